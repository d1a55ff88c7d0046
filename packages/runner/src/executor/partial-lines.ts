import type { LogLevel, LogLine } from '@millrace/contract/runner';

type OnLog = (line: Omit<LogLine, 'run' | 'attempt'>) => void;
type Add = (onLog: OnLog, level: LogLevel, text: string) => void;

/** How long a partial line waits for its end, in milliseconds. */
const waitMs = 200;

interface Begun {
  text: string;
  readonly timer: NodeJS.Timeout;
}

/**
 * Joins lines that a run writes in pieces, because secrets are redacted in whole lines. A partial line is passed on after a while, and
 * when the attempt ends.
 */
export class PartialLines {
  readonly #begun = new Map<OnLog, Map<LogLevel, Begun>>();
  readonly #add: Add;
  readonly #maxLength: number;

  constructor(add: Add, maxLength: number) {
    this.#add = add;
    this.#maxLength = maxLength;
  }

  write(onLog: OnLog, level: LogLevel, chunk: string): void {
    const text = this.#take(onLog, level) + chunk;
    const end = text.lastIndexOf('\n');
    if (end >= 0) this.#add(onLog, level, text.slice(0, end));
    const rest = text.slice(end + 1);
    if (rest.length > this.#maxLength) this.#add(onLog, level, rest);
    else if (rest !== '') this.#keep(onLog, level, rest);
  }

  /** Passes on the partial lines of an attempt. */
  end(onLog: OnLog): void {
    for (const level of this.#begun.get(onLog)?.keys() ?? []) {
      const text = this.#take(onLog, level);
      if (text !== '') this.#add(onLog, level, text);
    }
    this.#begun.delete(onLog);
  }

  /** Passes on all partial lines, because the process ends. */
  endAll(): void {
    for (const onLog of this.#begun.keys()) this.end(onLog);
  }

  #keep(onLog: OnLog, level: LogLevel, text: string): void {
    const timer = setTimeout(() => this.end(onLog), waitMs);
    timer.unref();
    const levels = this.#begun.get(onLog) ?? new Map<LogLevel, Begun>();
    this.#begun.set(onLog, levels.set(level, { text, timer }));
  }

  #take(onLog: OnLog, level: LogLevel): string {
    const begun = this.#begun.get(onLog)?.get(level);
    clearTimeout(begun?.timer);
    this.#begun.get(onLog)?.delete(level);
    return begun?.text ?? '';
  }
}
