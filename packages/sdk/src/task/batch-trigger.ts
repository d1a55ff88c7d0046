import type { BatchHandle } from '../batch/handle.ts';
import { triggerBatch } from '../batch/trigger.ts';
import type { BatchOptions } from '../batch/types.ts';
import { currentClient } from '../client/current-client.ts';
import type { AnyTask, ItemOf, TaskId } from './types.ts';

/**
 * Triggers up to 1,000 runs of a task by its id. Otherwise like the task's own `batchTrigger`.
 *
 * @example
 * await tasks.batchTrigger<typeof resizeImage>('resize-image', urls.map((url) => ({ payload: { url } })));
 */
export async function batchTrigger<T extends AnyTask = AnyTask>(
  taskIdentifier: TaskId<T>,
  items: readonly ItemOf<T>[],
  options?: BatchOptions,
): Promise<BatchHandle> {
  const erased = items.map((item) => ({
    task: taskIdentifier,
    payload: item.payload,
    options: item.options,
  }));
  return triggerBatch(currentClient(), erased, options);
}
