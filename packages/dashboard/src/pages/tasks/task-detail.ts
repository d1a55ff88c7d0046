import type { ReplyOf } from '../../api/operation-types.ts';

/** A task in the form used by its page. */
export type TaskDetail = ReplyOf<'retrieveTask'>;
