import type { LogLine } from '@millrace/contract/runner';

/** Overhead per line, in characters. */
const overhead = 200;
const note = /^\{"droppedLines":(\d{1,12})\}$/;

const sizeOf = ({ message, properties = '' }: LogLine): number =>
  message.length + properties.length + overhead;

/** How many lines a line represents. A note about dropped lines represents those lines. */
const countOf = ({ properties = '' }: LogLine): number => Number(note.exec(properties)?.[1] ?? 1) || 1;

interface Gap {
  readonly run: string;
  readonly attempt: number;
  at: number;
  count: number;
}

/**
 * Buffers lines for the server, up to a number of characters. Further lines are dropped, and one line reports how many, so a task that writes
 * in a loop does not fill the memory of its process or of the runner.
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

  /** `elsewhere`: characters that were taken out but are still in this process. */
  add(line: LogLine, elsewhere = 0): void {
    const size = sizeOf(line);
    const used = this.#size + elsewhere;
    // A single line may exceed the limit.
    if (used > 0 && used + size > this.#maxSize) return this.#drop(line);
    if (this.#gaps.size > 0) this.#closeGap(keyOf(line));
    this.#push(line, size);
  }

  /** Removes and returns the first lines: about this many characters, at least one line and at most `maxCount`. */
  take(maxSize = Number.POSITIVE_INFINITY, maxCount = Number.POSITIVE_INFINITY): LogLine[] {
    let size = 0;
    let count = 0;
    for (const line of this.#lines) {
      const grown = size + sizeOf(line);
      if (count === maxCount || (count > 0 && grown > maxSize)) break;
      size = grown;
      count += 1;
    }
    // The dropped lines were written after all buffered ones.
    if (count === this.#lines.length && this.#gaps.size > 0 && count < maxCount) {
      for (const key of this.#gaps.keys()) {
        if (this.#lines.length === maxCount) break;
        this.#closeGap(key);
      }
      count = this.#lines.length;
      size = this.#size;
    }
    this.#size -= size;
    if (count < this.#lines.length) return this.#lines.splice(0, count);
    const all = this.#lines;
    this.#lines = [];
    return all;
  }

  /** Puts back lines that could not be sent. */
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
    const closing: LogLine = {
      run,
      attempt,
      at,
      level: 'warn',
      message,
      properties: `{"droppedLines":${count}}`,
    };
    this.#push(closing, sizeOf(closing));
  }
}

const keyOf = ({ run, attempt }: LogLine): string => `${run} ${attempt}`;
