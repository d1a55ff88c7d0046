import { setTimeout } from 'node:timers/promises';
import { parsedMessage, type ChannelRecord, type FollowOptions } from '@millrace/sdk/executor';
import { Result, timedOut, type Taken } from './taken.ts';

/** A message on a channel that the code of a task reads. */
export interface Message {
  readonly id: string;
  readonly seqNum: number;
  readonly data: unknown;
}

/** The origin of messages. */
export interface Source {
  readonly follow: (options: FollowOptions) => AsyncIterable<ChannelRecord>;
  /** The reason why no more messages will arrive; undefined while they may. */
  readonly end: () => Promise<Error | undefined>;
  /** Called with the number of the last message that the code has consumed, and when it begins to listen. */
  readonly onTaken: (seqNum: number | undefined) => void;
}

export interface OnceOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

type Handler = (message: Message) => unknown;

interface Waiter {
  readonly accepts: (message: Message) => boolean;
  readonly give: (taken: Taken<Message>) => void;
}

/** Maximum time that one connection waits for a message. */
const followSeconds = 600;
/** Pause between two connections without a message. */
const breathMs = 1_000;

/**
 * The messages of one channel, with the semantics of the published SDK's managers. Unconsumed messages are queued, and only the first of the
 * queue can be consumed. Handlers see every message; one that returns true consumes it.
 */
export class Inbox {
  readonly #source: Source;
  readonly #ended: AbortSignal;
  readonly #handlers = new Set<Handler>();
  #waiters: Waiter[] = [];
  #queued: Message[] = [];
  #received: number | undefined;
  #taken: number | undefined;
  #after: number | undefined;
  #connection: AbortController | undefined;
  /** Number of waits for a message after this one. */
  #waits = { beyond: -1, count: 0 };

  constructor(source: Source, ended: AbortSignal) {
    this.#source = source;
    this.#ended = ended;
  }

  /** The number of the last received message. */
  get received(): number | undefined {
    return this.#received;
  }

  /** The last message such that it and all before it are consumed. */
  get taken(): number | undefined {
    const [first] = this.#queued;
    if (this.#taken === undefined || !first || first.seqNum > this.#taken) return this.#taken;
    return first.seqNum > 0 ? first.seqNum - 1 : undefined;
  }

  get first(): Message | undefined {
    return this.#queued[0];
  }

  on(handler: Handler): { off(): void } {
    this.#handlers.add(handler);
    this.connect();
    const queued = this.#queued;
    this.#queued = [];
    for (const message of queued) {
      if (call(handler, message)) this.#take(message.seqNum);
      else this.#queued.push(message);
    }
    this.#serve();
    return { off: () => void this.#handlers.delete(handler) };
  }

  once({ timeoutMs, signal }: OnceOptions = {}, accepts: Waiter['accepts'] = () => true): Result<Message> {
    if (timeoutMs !== 0) this.connect();
    const [first] = this.#queued;
    if (first && accepts(first)) {
      this.#queued.shift();
      this.#take(first.seqNum);
      this.#serve();
      return Result.of({ ok: true, output: first });
    }
    if (timeoutMs === 0) return Result.of({ ok: false, error: timedOut(0) });
    if (signal?.aborted) return Result.failed(new Error('Aborted'));
    return new Result((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
      };
      const waiter: Waiter = {
        accepts,
        give(taken) {
          end();
          resolve(taken);
        },
      };
      const abort = (): void => {
        end();
        reject(new Error('Aborted'));
      };
      const timer =
        timeoutMs === undefined
          ? undefined
          : globalThis.setTimeout(() => waiter.give({ ok: false, error: timedOut(timeoutMs) }), timeoutMs);
      signal?.addEventListener('abort', abort);
      this.#waiters.push(waiter);
    });
  }

  /** Drops the first of the queue. */
  shift(): boolean {
    const first = this.#queued.shift();
    if (!first) return false;
    this.#take(first.seqNum);
    this.#serve();
    return true;
  }

  /** Consumes the message with this number, whether it arrived here or in a wait. */
  consume(seqNum: number): void {
    this.#queued = this.#queued.filter((message) => message.seqNum !== seqNum);
    this.#take(seqNum);
    this.#serve();
  }

  /** Messages up to this number need not be received again. */
  skipTo(seqNum: number): void {
    this.#received = Math.max(this.#received ?? -1, seqNum);
  }

  /** Marks messages up to this number as consumed. */
  markTaken(seqNum: number): void {
    if (Number.isFinite(seqNum)) this.#take(seqNum);
  }

  /** Messages up to this time, in milliseconds since 1970, are dropped. */
  dropUntil(time: number | undefined): void {
    this.#after = time;
  }

  /** The number before that of the next message to be consumed. */
  get beforeNext(): number {
    const [first] = this.#queued;
    return (first?.seqNum ?? (this.#received ?? -1) + 1) - 1;
  }

  /** Number of waits for a message after this one, including this wait; the same when the code is executed again. */
  countWait(beyond: number): number {
    this.#waits = { beyond, count: this.#waits.beyond === beyond ? this.#waits.count + 1 : 1 };
    return this.#waits.count;
  }

  /** Disconnects, so that queued messages are received again. Returns the number before that of the next message. */
  rewind(): number {
    const beyond = this.beforeNext;
    this.disconnect();
    this.#queued = [];
    this.#received = beyond < 0 ? undefined : beyond;
    return beyond;
  }

  connect(): void {
    if (this.#connection || this.#ended.aborted) return;
    const connection = new AbortController();
    this.#connection = connection;
    this.#source.onTaken(this.taken);
    const signal = AbortSignal.any([connection.signal, this.#ended]);
    void this.#follow(signal)
      .catch((error: unknown) => error)
      .then((error) => {
        if (this.#connection === connection) this.#connection = undefined;
        if (signal.aborted || error === undefined) return;
        const taken = {
          ok: false,
          error: error instanceof Error ? error : new Error(String(error)),
        } as const;
        for (const waiter of this.#waiters) waiter.give(taken);
      });
  }

  /** Retains received messages. */
  disconnect(): void {
    this.#connection?.abort();
    this.#connection = undefined;
  }

  close(): void {
    this.disconnect();
    this.#handlers.clear();
    this.#waiters = [];
    this.#queued = [];
  }

  clearHandlers(): void {
    this.#handlers.clear();
    if (this.#waiters.length === 0) this.disconnect();
  }

  /** Resolves with the reason why nothing more will arrive; undefined when it was aborted. */
  async #follow(signal: AbortSignal): Promise<Error | undefined> {
    while (!signal.aborted) {
      const options = { lastEventId: this.#received, timeoutInSeconds: followSeconds, signal };
      for await (const record of this.#source.follow(options)) {
        if (signal.aborted) return undefined;
        this.#receive(record);
      }
      if (signal.aborted) return undefined;
      const end = await this.#source.end().catch(() => undefined);
      if (end) return end;
      await setTimeout(breathMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  }

  #receive({ seq, at, body, headers }: ChannelRecord): void {
    this.#received = seq;
    // Control records, and commands, which have no name.
    if (headers.some(([name]) => name === 'trigger-control') || headers[0]?.[0] === '') return;
    if (this.#after !== undefined && at <= this.#after) return;
    const { id, data } = JSON.parse(body) as { readonly id?: string; readonly data?: unknown };
    const message = { id: id ?? String(seq), seqNum: seq, data: parsedMessage(data) };
    const waiter = this.#queued.length === 0 ? this.#waiterFor(message) : undefined;
    if (waiter) {
      this.#take(seq);
      waiter.give({ ok: true, output: message });
    }
    let isTaken = waiter !== undefined;
    for (const handler of this.#handlers) isTaken = call(handler, message) || isTaken;
    if (isTaken) return this.#take(seq);
    this.#queued.push(message);
    this.#serve();
  }

  #waiterFor(message: Message): Waiter | undefined {
    return this.#waiters.find(({ accepts }) => accepts(message));
  }

  /** Passes queued messages to waiting callers. */
  #serve(): void {
    for (let [first] = this.#queued; first; [first] = this.#queued) {
      const waiter = this.#waiterFor(first);
      if (!waiter) return;
      this.#queued.shift();
      this.#take(first.seqNum);
      waiter.give({ ok: true, output: first });
    }
  }

  #take(seqNum: number): void {
    this.#taken = Math.max(this.#taken ?? -1, seqNum);
    this.#source.onTaken(this.taken);
  }
}

/** Whether the handler consumes the message. Its errors are ignored, as in the published SDK. */
function call(handler: Handler, message: Message): boolean {
  try {
    const result = handler(message);
    if (result instanceof Promise) result.catch(() => undefined);
    return result === true;
  } catch {
    return false;
  }
}
