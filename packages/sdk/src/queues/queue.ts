import type { Queue as WireQueue } from '@millrace/contract';

/** A queue by name: that of a task, or one declared in code. */
export interface QueueName {
  type: 'task' | 'custom';
  /** The task's id, or the queue's name. */
  name: string;
}

/** A queue by its id (`queue_…`), its name, or the queue itself. */
export type QueueReference = string | QueueName;

/** A queue with its limit and its current number of executing and waiting runs. */
export type Queue = Omit<WireQueue, 'concurrency' | 'rateLimit'> & {
  concurrency: Omit<WireQueue['concurrency'], 'overriddenAt'> & { overriddenAt: Date | null };
  rateLimit: Omit<WireQueue['rateLimit'], 'overriddenAt' | 'nextStartAt'> & {
    overriddenAt: Date | null;
    nextStartAt: Date | null;
  };
};

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

export const fromWire = ({ concurrency, rateLimit, ...queue }: WireQueue): Queue => ({
  ...queue,
  rateLimit: {
    ...rateLimit,
    overriddenAt: dateOf(rateLimit.overriddenAt),
    nextStartAt: dateOf(rateLimit.nextStartAt),
  },
  concurrency: {
    ...concurrency,
    overriddenAt: dateOf(concurrency.overriddenAt),
  },
});

/** The queue's parameters on the wire. */
export function named(queue: QueueReference): { queue: string; type: 'id' | 'task' | 'custom' } {
  const { type, name }: Partial<QueueName> & { type?: unknown } =
    typeof queue === 'string' ? { name: queue } : (queue ?? {});
  if (
    typeof name === 'string' &&
    name !== '' &&
    (type === undefined || type === 'task' || type === 'custom')
  ) {
    return { queue: name, type: type ?? 'id' };
  }
  throw new TypeError("Pass the id of the queue (queue_…) or { type: 'task' or 'custom', name }.");
}
