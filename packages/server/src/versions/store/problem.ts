import { Problem } from '../../problem.ts';
import { StoreFailed } from './store.ts';

/** A store failure as a response to the client, which may try again. Other errors are returned unchanged. */
export const fromStore = (error: unknown): unknown =>
  error instanceof StoreFailed ? new Problem('unavailable', `${error.message}. Try again.`, {}, true) : error;
