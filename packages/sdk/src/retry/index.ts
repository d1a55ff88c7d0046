import { retryFetch } from './fetch.ts';
import { onThrow } from './on-throw.ts';

/** Retries inside of one attempt, for steps of a run. The `retry` option of a task controls retries of whole attempts. */
export const retry = { onThrow, fetch: retryFetch };
