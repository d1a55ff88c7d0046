import type { AccessWatcher } from '../auth/watch-access.ts';
import { Problem } from '../problem.ts';
import type { Request } from '../request.ts';

const retryAfterSeconds = 5;

export interface PollLimits {
  /** The limit for this process. */
  readonly process: number;
  /** The limit for one environment, in this process. */
  readonly environment: number;
}

/** The requests of this process that wait for changes. */
export class LongPolls {
  readonly #limits: PollLimits;
  readonly #holdMs: number;
  readonly #access: Pick<AccessWatcher, 'watch'>;
  readonly #counts = new Map<number, number>();
  readonly #stopping = new AbortController();
  #count = 0;

  constructor(holdMs: number, limits: PollLimits, access: Pick<AccessWatcher, 'watch'>) {
    this.#holdMs = holdMs;
    this.#access = access;
    this.#limits = limits;
  }

  /**
   * Calls `wait` with a signal that aborts when the time has expired, the caller disconnects, its credential ends or the server stops. 429
   * at the limit.
   */
  async hold<R>(
    request: Pick<Request<never>, 'gone' | 'principal' | 'releaseSlot' | 'setHeader'>,
    env: number,
    wait: (signal: AbortSignal) => Promise<R>,
  ): Promise<R> {
    const count = this.#counts.get(env) ?? 0;
    if (this.#count >= this.#limits.process || count >= this.#limits.environment) {
      request.setHeader('retry-after', String(retryAfterSeconds));
      throw new Problem(
        'too_many_subscribers',
        `Too many subscribers. Try again in ${retryAfterSeconds} seconds.`,
      );
    }
    const ended = new AbortController();
    const end = (): void => ended.abort();
    const timer = setTimeout(end, this.#holdMs);
    const release = this.#access.watch(request.principal, end);
    const stopping = this.#stopping.signal;
    if (stopping.aborted) end();
    stopping.addEventListener('abort', end, { once: true });
    request.gone.addEventListener('abort', end, { once: true });
    this.#count++;
    this.#counts.set(env, count + 1);
    request.releaseSlot();
    try {
      return await wait(ended.signal);
    } finally {
      clearTimeout(timer);
      release();
      stopping.removeEventListener('abort', end);
      this.#count--;
      const left = (this.#counts.get(env) ?? 1) - 1;
      if (left > 0) this.#counts.set(env, left);
      else this.#counts.delete(env);
    }
  }

  /** Ends all waits, so that the callers continue on another server. */
  stop(): void {
    this.#stopping.abort();
  }
}
