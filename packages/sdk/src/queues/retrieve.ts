import type { QueueKey as WireQueueKey } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

/** A concurrency key of a queue, with its runs. */
export type QueueKey = Omit<WireQueueKey, 'nextStartAt'> & {
  /** When the next may start by the limit of rate for each key, if none may now. */
  nextStartAt?: Date;
};

/** What to tell of a queue beside its state. */
export interface RetrieveQueueOptions {
  /** So many concurrency keys that have runs, those with the most waiting first: 1 to 100. */
  keys?: number;
}

/**
 * One queue. Throws a NotFoundError for an unknown one.
 *
 * @example
 * const { queued, paused } = await queues.retrieve({ type: 'task', name: 'resize-image' });
 *
 * @example
 * const { keys = [] } = await queues.retrieve({ type: 'custom', name: 'mail' }, { keys: 20 });
 * for (const { key, running, queued } of keys) console.log(key, running, queued);
 */
export async function retrieve(
  queue: QueueReference,
  { keys }: RetrieveQueueOptions = {},
): Promise<Queue & { readonly keys?: readonly QueueKey[] }> {
  const { queue: name, type } = named(queue);
  const query = { type, keys };
  const { keys: found, ...one } = await currentClient().call('retrieveQueue', {
    params: { queue: name },
    query,
  });
  const keysOf = (wire: readonly WireQueueKey[]): QueueKey[] =>
    wire.map(({ nextStartAt, ...key }) => ({
      ...key,
      ...(nextStartAt !== undefined && { nextStartAt: new Date(nextStartAt) }),
    }));
  return { ...fromWire(one), ...(found && { keys: keysOf(found) }) };
}
