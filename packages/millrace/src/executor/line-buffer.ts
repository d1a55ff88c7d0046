import type { LogLine } from '@millrace/contract/runner';

/** What a line counts for beside its text. */
const overhead = 200;
const noteStart = '{"droppedLines":';

const sizeOf = ({ message, properties = '' }: LogLine): number =>
  message.length + properties.length + overhead;

/** How many lines a line stands for: a note of lines that were dropped before it came here stands for those. */
const countOf = ({ properties = '' }: LogLine): number =>
  properties.startsWith(noteStart)
    ? Number((JSON.parse(properties) as { droppedLines?: unknown }).droppedLines) || 1
    : 1;

interface Gap {
  readonly run: string;
  readonly attempt: number;
  at: number;
  count: number;
}

/**
 * Lines on their way to the server, up to a number of characters. Lines beyond it are dropped, and a line in their place says how
 * many: a task that writes in a loop must not fill the memory of its process, nor of those behind it.
 */
export class LineBuffer {
  readonly #maxSize: number;
  #lines: LogLine[] = [];
  #size = 0;
  readonly #gaps = new Map<string, Gap>();

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#gaps.size === 0;
  }

  /** `elsewhere`: characters that have left and still lie in this process. */
  add(line: LogLine, elsewhere = 0): void {
    const size = sizeOf(line);
    const used = this.#size + elsewhere;
    // A line that is longer than all there is room for is kept when it is alone.
    if (used > 0 && used + size > this.#maxSize) return this.#drop(line);
    if (this.#gaps.size > 0) this.#closeGap(keyOf(line));
    this.#push(line, size);
  }

  /** Takes the first ones, about so many characters, and at least one. */
  take(maxSize = Number.POSITIVE_INFINITY): LogLine[] {
    let size = 0;
    let count = 0;
    for (const line of this.#lines) {
      const grown = size + sizeOf(line);
      if (count > 0 && grown > maxSize) break;
      size = grown;
      count += 1;
    }
    // What was dropped came after everything that is here.
    if (count === this.#lines.length && this.#gaps.size > 0) {
      for (const key of this.#gaps.keys()) this.#closeGap(key);
      count = this.#lines.length;
      size = this.#size;
    }
    this.#size -= size;
    if (count < this.#lines.length) return this.#lines.splice(0, count);
    const all = this.#lines;
    this.#lines = [];
    return all;
  }

  /** Puts back what could not be sent. */
  putBack(lines: readonly LogLine[]): void {
    this.#lines = [...lines, ...this.#lines];
    for (const line of lines) this.#size += sizeOf(line);
  }

  #push(line: LogLine, size: number): void {
    this.#lines.push(line);
    this.#size += size;
  }

  #drop(line: LogLine): void {
    const { run, attempt, at } = line;
    const gap = this.#gaps.get(keyOf(line));
    if (!gap) return void this.#gaps.set(keyOf(line), { run, attempt, at, count: countOf(line) });
    gap.count += countOf(line);
    gap.at = at;
  }

  #closeGap(key: string): void {
    const gap = this.#gaps.get(key);
    if (!gap) return;
    this.#gaps.delete(key);
    const { run, attempt, at, count } = gap;
    const lines = count === 1 ? '1 line is' : `${count} lines are`;
    const message = `${lines} missing here: they were written faster than they could be stored`;
    const note: LogLine = {
      run,
      attempt,
      at,
      level: 'warn',
      message,
      properties: `${noteStart}${count}}`,
    };
    this.#push(note, sizeOf(note));
  }
}

const keyOf = ({ run, attempt }: LogLine): string => `${run} ${attempt}`;
