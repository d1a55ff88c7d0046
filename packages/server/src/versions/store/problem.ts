import { Problem } from '../../problem.ts';
import { StoreFailed } from './store.ts';

/** What a client is told of a failure of the store: it may try again. Other errors stay as they are. */
export const fromStore = (error: unknown): unknown =>
  error instanceof StoreFailed ? new Problem('unavailable', `${error.message}. Try again.`, {}, true) : error;
