import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

async function act(queue: QueueReference, action: 'pause' | 'resume'): Promise<Queue> {
  const { queue: name, type } = named(queue);
  return fromWire(
    await currentClient().call('pauseQueue', { params: { queue: name }, body: { type, action } }),
  );
}

/**
 * Stops starting runs of a queue until it is resumed; executing runs continue. Throws a NotFoundError for an unknown queue.
 *
 * @example
 * await queues.pause({ type: 'custom', name: 'mail' });
 */
export const pause = (queue: QueueReference): Promise<Queue> => act(queue, 'pause');

/**
 * Resumes a paused queue. Throws a NotFoundError for an unknown queue.
 *
 * @example
 * await queues.resume({ type: 'custom', name: 'mail' });
 */
export const resume = (queue: QueueReference): Promise<Queue> => act(queue, 'resume');
