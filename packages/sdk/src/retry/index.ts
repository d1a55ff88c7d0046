import { retryFetch } from './fetch.ts';
import { onThrow } from './on-throw.ts';

/** Tries again inside one attempt, in the process: for steps of a run. What happens when a whole attempt fails is `retry` of its task. */
export const retry = { onThrow, fetch: retryFetch };
