import { setTimeout as sleep } from 'node:timers/promises';
import { isConflict } from './errors.ts';

export interface RetryOptions {
  /** Which errors to retry. Default: all. */
  readonly when?: (error: unknown) => boolean;
  /** Maximum number of attempts in total. */
  readonly maxTries: number;
  /** Milliseconds before the next attempt; `tries` counts from 1. Default 0. */
  readonly delayMs?: (tries: number) => number;
}

/** Calls `act` until it succeeds, fails with an error that must not be retried, or has used all its attempts. */
export async function retry<T>(
  act: () => Promise<T>,
  { when = () => true, maxTries, delayMs }: RetryOptions,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === maxTries || !when(error)) throw error;
    }
    if (delayMs) await sleep(delayMs(tries), undefined, { ref: false });
  }
}

/**
 * For transactions that may take locks in a different order than others. A transaction that PostgreSQL rolled back has changed nothing.
 * Each pause is longer than the last, and random, so that two conflicting transactions do not retry at the same time.
 */
export const retryOnConflict = <T>(act: () => Promise<T>): Promise<T> =>
  retry(act, {
    when: isConflict,
    maxTries: 8,
    delayMs: (tries) => 10 * 2 ** (tries - 1) * (0.5 + Math.random() / 2),
  });
