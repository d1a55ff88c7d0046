import type { Queue } from '@millrace/sdk';

/** `task/<id>` is a task's own queue. */
export const queueName = ({ type, name }: Queue): string => (type === 'task' ? `task/${name}` : name);
