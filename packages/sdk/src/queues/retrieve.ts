import type { QueueKey as WireQueueKey } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

/** A concurrency key of a queue, with its runs. */
export type QueueKey = Omit<WireQueueKey, 'nextStartAt'> & {
  /** When the rate limit per key allows the next start, if it does not allow one now. */
  nextStartAt?: Date;
};

/** Data to return in addition to the state of a queue. */
export interface RetrieveQueueOptions {
  /** Number of concurrency keys with runs to return, those with the most waiting runs first: 1 to 100. */
  keys?: number;
}

/**
 * One queue. Throws a NotFoundError for an unknown queue.
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
  const { keys: found, ...fields } = await currentClient().call('retrieveQueue', {
    params: { queue: name },
    query,
  });
  const keysOf = (wire: readonly WireQueueKey[]): QueueKey[] =>
    wire.map(({ nextStartAt, ...key }) => ({
      ...key,
      ...(nextStartAt !== undefined && { nextStartAt: new Date(nextStartAt) }),
    }));
  return { ...fromWire(fields), ...(found && { keys: keysOf(found) }) };
}
