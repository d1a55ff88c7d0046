import { retryFetch } from './fetch.ts';
import { onThrow } from './on-throw.ts';

/** Retries inside one attempt, for parts of a run. The `retry` option of a task controls retries of whole attempts. */
export const retry = { onThrow, fetch: retryFetch };
