import type { Queue } from '@millrace/contract';

type Named = Pick<Queue, 'name' | 'type'>;

/** The queue name used by runs and commands: `task/<id>` for that of a task. */
export const fullName = ({ name, type }: Named): string => (type === 'task' ? `task/${name}` : name);

/** The queue in a segment of an address: an id, or a name as used by runs. */
export function referenceOf(text: string): {
  readonly queue: string;
  readonly type: 'id' | 'task' | 'custom';
} {
  if (/^queue_\d+$/.test(text)) return { queue: text, type: 'id' };
  return text.startsWith('task/')
    ? { queue: text.slice('task/'.length), type: 'task' }
    : { queue: text, type: 'custom' };
}

/** The page of a queue: by name, which the breadcrumb shows, unless the name looks like an id. */
export const addressOf = ({ id, ...queue }: Pick<Queue, 'id' | 'name' | 'type'>): string => {
  const name = fullName(queue);
  return `/queues/${encodeURIComponent(referenceOf(name).type === 'id' ? id : name)}`;
};
