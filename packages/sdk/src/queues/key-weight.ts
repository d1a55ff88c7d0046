import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

/**
 * Sets how many runs a concurrency key of a queue starts per turn, regardless of the weight in code: 1 to 100. Null restores the weight in
 * code. It takes effect with the next turn. Throws a NotFoundError for an unknown queue.
 *
 * @example
 * await queues.setKeyWeight({ type: 'task', name: 'sync' }, 'customer-42', 5);
 */
export async function setKeyWeight(
  queue: QueueReference,
  key: string,
  weight: number | null,
): Promise<Queue> {
  const { queue: name, type } = named(queue);
  const body = { type, key, weight };
  return fromWire(await currentClient().call('setQueueKeyWeight', { params: { queue: name }, body }));
}
