import type { ReplyOf } from '../../api/operation-types.ts';

/** An error group as its page has it. */
export type ErrorDetail = ReplyOf<'retrieveError'>;
