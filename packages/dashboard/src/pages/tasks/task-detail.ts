import type { ReplyOf } from '../../api/operation-types.ts';

/** A task as its page has it. */
export type TaskDetail = ReplyOf<'retrieveTask'>;
