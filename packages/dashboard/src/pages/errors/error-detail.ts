import type { ReplyOf } from '../../api/operation-types.ts';

/** An error group in the form used by its page. */
export type ErrorDetail = ReplyOf<'retrieveError'>;
