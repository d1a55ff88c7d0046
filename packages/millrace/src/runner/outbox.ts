import type { LogLine, RunnerMessage, Settlement } from '@millrace/contract/runner';

/** Lines wait this long for company, in milliseconds. */
const linesWait = 50;
/** Lines kept while there is no connection; older ones go first, and a line in their run's log says so. */
export const maxUnsentLines = 10_000;
/** A frame is cut where its text passes about this many characters, well below what the server accepts. */
const frameLength = 4 * 1024 * 1024;

/** What the server has yet to hear. Settlements are kept, and told again on each new connection, until they are confirmed. */
export class Outbox {
  /** False when there is no connection. */
  readonly #send: (message: RunnerMessage) => boolean;
  readonly #unconfirmed = new Map<number, Settlement>();
  #fresh: Settlement[] = [];
  #lines: LogLine[] = [];
  /** Of each attempt whose lines there was no room for: the last of them, and how many. */
  readonly #dropped = new Map<string, DroppedLines>();
  #scheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(send: (message: RunnerMessage) => boolean) {
    this.#send = send;
  }

  get fences(): number[] {
    return [...this.#unconfirmed.keys()];
  }

  settle(settlement: Settlement): void {
    this.#unconfirmed.set(settlement.fence, settlement);
    this.#fresh.push(settlement);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  log(lines: readonly LogLine[]): void {
    for (const line of lines) this.#lines.push(line);
    const excess = this.#lines.length - maxUnsentLines;
    if (excess > 0) this.#drop(this.#lines.splice(0, excess));
    this.#timer ??= setTimeout(() => this.#flush(), linesWait);
  }

  /** These settlements are final, or of no interest any more. */
  confirm(fences: readonly number[]): void {
    for (const fence of fences) this.#unconfirmed.delete(fence);
    if (this.#unconfirmed.size === 0) this.#onEmpty?.();
  }

  /**
   * The server holds these no longer. Settled there or not, how they ended is of no interest any more, but what a run had heard is: whoever
   * settled it may have got no further.
   */
  lost(fences: readonly number[]): void {
    this.confirm(fences.filter((fence) => !this.#unconfirmed.get(fence)?.heard));
  }

  tellAgain(): void {
    this.#fresh = [...this.#unconfirmed.values()];
    this.#flush();
  }

  /** Resolves when everything is confirmed. */
  emptied(): Promise<void> {
    if (this.#unconfirmed.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #drop(lines: readonly LogLine[]): void {
    for (const last of lines) {
      const key = `${last.run} ${last.attempt}`;
      this.#dropped.set(key, { last, count: (this.#dropped.get(key)?.count ?? 0) + 1 });
    }
  }

  #flush(): void {
    this.#scheduled = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A run's lines go before its end.
    const lines = this.#lines;
    this.#lines = [];
    const notes = [...this.#dropped.values()].map(noteOf);
    if (notes.length > 0 && this.#send({ type: 'log', lines: notes })) this.#dropped.clear();
    for (const part of cut(lines, ({ message, properties = '' }) => message.length + properties.length)) {
      if (!this.#send({ type: 'log', lines: part })) this.#lines.push(...part);
    }
    const settlements = this.#fresh;
    this.#fresh = [];
    for (const part of cut(settlements, lengthOf)) this.#send({ type: 'settle', settlements: part });
  }
}

interface DroppedLines {
  readonly last: LogLine;
  readonly count: number;
}

const noteOf = ({ last: { run, attempt, at }, count }: DroppedLines): LogLine => ({
  run,
  attempt,
  at,
  level: 'warn',
  message: `… ${count} ${count === 1 ? 'line was' : 'lines were'} not kept: the limit is ${maxUnsentLines} lines of all runs while the server cannot be reached`,
});

const lengthOf = ({ outcome }: Settlement): number => {
  if (outcome.kind === 'completed') return outcome.output?.length ?? 0;
  return 'error' in outcome ? JSON.stringify(outcome.error).length : 0;
};

/** The items in their order, in parts that are not too long; one long item is a part by itself. */
export function cut<T>(items: readonly T[], length: (item: T) => number, most = frameLength): T[][] {
  const parts: T[][] = [];
  let part: T[] = [];
  let total = 0;
  for (const item of items) {
    const own = length(item) + 200;
    if (part.length > 0 && total + own > most) {
      parts.push(part);
      part = [];
      total = 0;
    }
    part.push(item);
    total += own;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
