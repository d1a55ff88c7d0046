import {
  maxFrameBytes,
  type LogLine,
  type RunnerMessage,
  type Settlement,
  type SpanChunk,
} from '@millrace/contract/runner';
import { cut, lengthOf } from '../executor/cut.ts';
import { LineBuffer } from '../executor/line-buffer.ts';
import { SpanBuffer } from '../executor/span-buffer.ts';

/** How long lines wait to be sent together, in milliseconds. */
const linesWait = 50;
/** Characters of buffered lines. */
export const maxLinesSize = 16 * 1024 * 1024;
/** The same limit for spans. */
const maxSpansSize = 8 * 1024 * 1024;
/** Frames of lines are small, so that later messages do not wait long. */
const linesFrameLength = 256 * 1024;
/** The server also limits the number of values in a frame, and spans may have one value every two characters. */
const spansFrameLength = 128 * 1024;
/** Approximate characters of a frame, well below the limit of the server. */
export const frameLength = 4 * 1024 * 1024;
/** Maximum number of items in a frame. */
export const frameItems = 500;

type LinesFrame = Extract<RunnerMessage, { type: 'log' }>;

/** Limits that the server has sent to this runner. */
export interface LineLimits {
  /** How many frames of lines may be unconfirmed. If omitted, the server confirms none. */
  readonly logFrames?: number | undefined;
  readonly frameLines?: number | undefined;
  readonly frameSpans?: number | undefined;
  /** The number of the last frame that it has stored. */
  readonly logged?: number | undefined;
}

/** Messages to the server. Outcomes are stored, and resent on each new connection, until they are confirmed. */
export class Outbox {
  /** False when there is no connection. */
  readonly #send: (message: RunnerMessage) => boolean;
  readonly #unconfirmed = new Map<number, Settlement>();
  #fresh: Settlement[] = [];
  readonly #lines = new LineBuffer(maxLinesSize);
  readonly #spans = new SpanBuffer(maxSpansSize);
  #limits: LineLimits = {};
  /** Frames of lines that were sent but not confirmed, by number. Sent again on each new connection. */
  readonly #unlogged = new Map<number, LinesFrame>();
  #lastFrame = 0;
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
    const sent = fitFrame(settlement);
    this.#unconfirmed.set(settlement.fence, sent);
    this.#fresh.push(sent);
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

  /** These outcomes are final. */
  confirm(fences: readonly number[]): void {
    for (const fence of fences) this.#unconfirmed.delete(fence);
    this.#checkEmpty();
  }

  /** Sends everything again on a new connection, within the limits of the server. */
  connected(limits: LineLimits = {}): void {
    this.#limits = limits;
    const { logFrames, logged = 0 } = limits;
    for (const [seq, frame] of this.#unlogged) {
      if (seq <= logged || logFrames === undefined) this.#unlogged.delete(seq);
      else this.#send(frame);
    }
    this.resend();
  }

  /** The server has stored this frame of lines. */
  logged(seq: number | undefined): void {
    if (seq !== undefined) this.#unlogged.delete(seq);
    this.#sendLines();
  }

  /**
   * This runner no longer owns these attempts. Their outcome no longer counts, but their consumed session messages do, because another
   * runner may not have got as far.
   */
  lost(fences: readonly number[]): void {
    this.confirm(fences.filter((fence) => !this.#unconfirmed.get(fence)?.consumed));
  }

  resend(): void {
    this.#fresh = [...this.#unconfirmed.values()];
    this.#flush();
  }

  /** Resolves when every outcome and every line is confirmed. */
  emptied(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      this.#checkEmpty();
    });
  }

  #checkEmpty(): void {
    const isSent = this.#lines.isEmpty && this.#spans.isEmpty && this.#unlogged.size === 0;
    if (isSent && this.#unconfirmed.size === 0) this.#onEmpty?.();
  }

  #flush(): void {
    this.#scheduled = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The lines of a run precede its outcome, unless there are so many that they would delay it.
    this.#sendLines();
    const settlements = this.#fresh;
    this.#fresh = [];
    for (const part of cut(settlements, lengthOf, frameLength, frameItems))
      this.#send({ type: 'settle', settlements: part });
  }

  #sendLines(): void {
    const { logFrames = Number.POSITIVE_INFINITY, frameLines, frameSpans } = this.#limits;
    while (this.#unlogged.size < logFrames && !(this.#lines.isEmpty && this.#spans.isEmpty)) {
      const lines = this.#lines.take(linesFrameLength, frameLines);
      const spans = this.#spans.take(spansFrameLength, frameSpans);
      const seq = this.#lastFrame + 1;
      const frame: LinesFrame = { type: 'log', seq, lines, ...(spans.length > 0 && { spans }) };
      if (!this.#send(frame)) {
        for (const chunk of spans) this.#spans.add(chunk);
        return this.#lines.putBack(lines);
      }
      this.#lastFrame = seq;
      if (logFrames !== Number.POSITIVE_INFINITY) this.#unlogged.set(seq, frame);
    }
    this.#checkEmpty();
  }
}

/** Overhead of an outcome in its frame. */
const envelopeBytes = 1_024;

/** An outcome that fits into a frame. Its JSON may be several times as long as its output. */
function fitFrame(settlement: Settlement): Settlement {
  const { outcome } = settlement;
  if (outcome.kind !== 'completed' || outcome.output === null) return settlement;
  // An escaped character takes six bytes, and any other at most three.
  if (outcome.output.length * 6 + envelopeBytes <= maxFrameBytes) return settlement;
  if (Buffer.byteLength(JSON.stringify(settlement)) + envelopeBytes <= maxFrameBytes) return settlement;
  const message =
    'The output is too large to be sent to the server. Store it elsewhere and return a reference.';
  const error = { type: 'INTERNAL_ERROR', name: 'OutputTooLargeError', message, stackTrace: '' } as const;
  return { ...settlement, outcome: { kind: 'failed', status: 'FAILED', error } };
}
