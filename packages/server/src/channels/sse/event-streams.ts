import { background } from '../../background.ts';
import { Problem } from '../../problem.ts';
import type { Exchange, Request } from '../../request.ts';
import { EventStream, type EventStreamOptions } from './event-stream.ts';

/** Limits of open streams. */
export interface StreamLimits {
  /** The limit for this process. Default 20,000. */
  readonly process: number;
  /** The limit for one environment, in this process. Default 15,000. */
  readonly environment: number;
  /** The limit for one subject, such as a session, in this process. Default 5,000. */
  readonly subject: number;
}

export const defaultStreamLimits: StreamLimits = { process: 20_000, environment: 15_000, subject: 5_000 };

const retryAfterSeconds = 5;
/** Each stream is checked once per interval; the streams are spread over the slots. */
const slots = 20;
const checkIntervalMs = 5_000;

/** The event streams of this process: limits, pings, shutdown. */
export class EventStreams {
  readonly #limits: StreamLimits;
  readonly #slots: Set<EventStream>[] = Array.from({ length: slots }, () => new Set<EventStream>());
  readonly #counts = new Map<string, number>();
  readonly #stopTicking: () => void;
  #count = 0;
  /** The slots for the next stream and the next tick. */
  #nextSlot = 0;
  #nextTick = 0;

  constructor(limits: Partial<StreamLimits> = {}) {
    this.#limits = { ...defaultStreamLimits, ...limits };
    this.#stopTicking = background(checkIntervalMs / slots, () => this.#tick());
  }

  get size(): number {
    return this.#count;
  }

  /** Throws 429 if a limit is reached. */
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
    throw new Problem(
      'too_many_subscribers',
      `Too many subscribers to ${full}. Try again in ${retryAfterSeconds} seconds.`,
    );
  }

  /** Responds to an exchange with a stream, which counts toward the limits until it ends. */
  open(exchange: Exchange, env: number, subject: string, options: EventStreamOptions): EventStream {
    const slot = this.#slots[this.#nextSlot++ % slots] as Set<EventStream>;
    const keys = [`${env}`, `${env} ${subject}`];
    const stream = new EventStream(exchange, {
      ...options,
      onEnded: () => {
        slot.delete(stream);
        this.#count--;
        for (const key of keys) this.#add(key, -1);
        options.onEnded();
      },
    });
    slot.add(stream);
    this.#count++;
    for (const key of keys) this.#add(key, 1);
    return stream;
  }

  /** Breaks every stream without ending it properly, so that clients resume on another server. */
  stop(): void {
    this.#stopTicking();
    for (const slot of this.#slots) for (const stream of slot) stream.break();
  }

  readonly #countOf = (key: string): number => this.#counts.get(key) ?? 0;

  #add(key: string, by: number): void {
    const count = this.#countOf(key) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  #tick(): void {
    const slot = this.#slots[this.#nextTick++ % slots] as Set<EventStream>;
    const now = Date.now();
    for (const stream of slot) stream.check(now);
  }
}
