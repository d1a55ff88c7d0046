import { Problem } from '../../problem.ts';
import type { Exchange, Request } from '../../request.ts';
import { EventStream, type EventStreamOptions } from './event-stream.ts';

/** Most streams at once. */
export interface StreamLimits {
  /** Of this process. Default 20,000. */
  readonly process: number;
  /** Of one environment, in this process. Default 15,000. */
  readonly environment: number;
  /** On one subject, such as a session, in this process. Default 5,000. */
  readonly subject: number;
}

export const defaultStreamLimits: StreamLimits = { process: 20_000, environment: 15_000, subject: 5_000 };

const retryAfterSeconds = 5;
/** Every stream is looked at once a round. */
const slots = 20;
const roundMs = 5_000;

/** The event-streams of this process: their number, their pings, their end. */
export class EventStreams {
  readonly #limits: StreamLimits;
  readonly #slots: Set<EventStream>[] = Array.from({ length: slots }, () => new Set<EventStream>());
  readonly #counts = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #turn = 0;

  constructor(limits: Partial<StreamLimits> = {}) {
    this.#limits = { ...defaultStreamLimits, ...limits };
    this.#timer = setInterval(() => this.#tick(), roundMs / slots);
    this.#timer.unref();
  }

  get size(): number {
    return this.#count;
  }

  /** 429 when one more would be too many. */
  admit(request: Pick<Request<never>, 'setHeader'>, env: number, subject: string): void {
    const { process, environment, subject: perSubject } = this.#limits;
    const full =
      this.#count >= process
        ? 'this server'
        : this.#countOf(`${env}`) >= environment
          ? 'this environment'
          : this.#countOf(`${env} ${subject}`) >= perSubject
            ? 'this stream'
            : undefined;
    if (full === undefined) return;
    request.setHeader('retry-after', String(retryAfterSeconds));
    throw new Problem(429, `Too many subscribers of ${full}. Try again in ${retryAfterSeconds} seconds.`);
  }

  /** Answers an exchange with a stream, counted until it is over. */
  open(exchange: Exchange, env: number, subject: string, options: EventStreamOptions): EventStream {
    const slot = this.#slots[this.#turn++ % slots] as Set<EventStream>;
    const keys = [`${env}`, `${env} ${subject}`];
    const stream = new EventStream(exchange, {
      ...options,
      onOver: () => {
        slot.delete(stream);
        this.#count--;
        for (const key of keys) this.#add(key, -1);
        options.onOver();
      },
    });
    slot.add(stream);
    this.#count++;
    for (const key of keys) this.#add(key, 1);
    return stream;
  }

  /** Breaks every stream without its proper end, so that clients go on elsewhere where they were. */
  stop(): void {
    clearInterval(this.#timer);
    for (const slot of this.#slots) for (const stream of slot) stream.break();
  }

  readonly #countOf = (key: string): number => this.#counts.get(key) ?? 0;

  #add(key: string, by: number): void {
    const count = this.#countOf(key) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  #round = 0;

  #tick(): void {
    const slot = this.#slots[this.#round++ % slots] as Set<EventStream>;
    const now = Date.now();
    for (const stream of slot) stream.look(now);
  }
}
