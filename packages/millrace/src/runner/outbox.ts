import type { LogLine, RunnerMessage, Settlement, SpanChunk } from '@millrace/contract/runner';
import { cut, lengthOf } from '../executor/cut.ts';
import { LineBuffer } from '../executor/line-buffer.ts';
import { SpanBuffer } from '../executor/span-buffer.ts';

/** WaitingAttempts wait this long for company, in milliseconds. */
const linesWait = 50;
/** Characters of buffered lines. */
export const maxLinesSize = 16 * 1024 * 1024;
/** The same of spans. */
const maxSpansSize = 8 * 1024 * 1024;
/** Frames of lines are small, so that messages behind them do not wait long. */
const linesFrameLength = 256 * 1024;
/** Approximate characters of a frame, well below what the server accepts. */
const frameLength = 4 * 1024 * 1024;

/** Messages to the server. Settlements are stored, and sent again on each new connection, until they are confirmed. */
export class Outbox {
  /** False when there is no connection. */
  readonly #send: (message: RunnerMessage) => boolean;
  readonly #unconfirmed = new Map<number, Settlement>();
  #fresh: Settlement[] = [];
  readonly #lines = new LineBuffer(maxLinesSize);
  readonly #spans = new SpanBuffer(maxSpansSize);
  /** Frames of lines that may be sent before the server confirms one. */
  #freeFrames = Number.POSITIVE_INFINITY;
  #scheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(send: (message: RunnerMessage) => boolean) {
    this.#send = send;
  }

  get fences(): number[] {
    return [...this.#unconfirmed.keys()];
  }

  /** Ids of the runs whose outcome is not confirmed. */
  get runs(): string[] {
    return [...this.#unconfirmed.values()].map(({ run }) => run);
  }

  add(settlement: Settlement): void {
    this.#unconfirmed.set(settlement.fence, settlement);
    this.#fresh.push(settlement);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  log(lines: readonly LogLine[]): void {
    for (const line of lines) this.#lines.add(line);
    this.#timer ??= setTimeout(() => this.#flush(), linesWait);
  }

  spans(chunks: readonly SpanChunk[]): void {
    for (const chunk of chunks) this.#spans.add(chunk);
    this.#timer ??= setTimeout(() => this.#flush(), linesWait);
  }

  /** These settlements are final. */
  confirm(fences: readonly number[]): void {
    for (const fence of fences) this.#unconfirmed.delete(fence);
    this.#checkEmpty();
  }

  /** Sends everything again on a new connection, which allows this many unconfirmed frames of lines. */
  connected(logFrames = Number.POSITIVE_INFINITY): void {
    this.#freeFrames = logFrames;
    this.tellAgain();
  }

  /** The server has stored a frame of lines. */
  logged(): void {
    this.#freeFrames += 1;
    this.#sendLines();
  }

  /**
   * These attempts are no longer this runner's. Their outcome does not count any more, but what they consumed of sessions does: another
   * runner may not have got as far.
   */
  lost(fences: readonly number[]): void {
    this.confirm(fences.filter((fence) => !this.#unconfirmed.get(fence)?.heard));
  }

  tellAgain(): void {
    this.#fresh = [...this.#unconfirmed.values()];
    this.#flush();
  }

  /** Resolves when every settlement is confirmed and every line sent. */
  emptied(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      this.#checkEmpty();
    });
  }

  #checkEmpty(): void {
    if (this.#unconfirmed.size === 0 && this.#lines.isEmpty && this.#spans.isEmpty) this.#onEmpty?.();
  }

  #flush(): void {
    this.#scheduled = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A run's lines go before its end, unless there are so many that they would delay it.
    this.#sendLines();
    const settlements = this.#fresh;
    this.#fresh = [];
    for (const part of cut(settlements, lengthOf, frameLength))
      this.#send({ type: 'settle', settlements: part });
  }

  #sendLines(): void {
    while (this.#freeFrames > 0 && !(this.#lines.isEmpty && this.#spans.isEmpty)) {
      const lines = this.#lines.take(linesFrameLength);
      const spans = this.#spans.take(linesFrameLength);
      if (!this.#send({ type: 'log', lines, ...(spans.length > 0 && { spans }) })) {
        for (const chunk of spans) this.#spans.add(chunk);
        return this.#lines.putBack(lines);
      }
      this.#freeFrames -= 1;
    }
    this.#checkEmpty();
  }
}
