import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

/**
 * One queue. Throws a NotFoundError for an unknown one.
 *
 * @example
 * const { queued, paused } = await queues.retrieve({ type: 'task', name: 'resize-image' });
 */
export async function retrieve(queue: QueueReference): Promise<Queue> {
  const { queue: name, type } = named(queue);
  return fromWire(await currentClient().call('retrieveQueue', { params: { queue: name }, query: { type } }));
}
