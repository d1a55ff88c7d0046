import { triggerBatchAndWait } from '../batch/trigger-and-wait.ts';
import type { BatchOptions, BatchResult } from '../batch/types.ts';
import { currentClient } from '../client/current-client.ts';
import type { RunResult } from './run-result.ts';
import type { AnyTask, ItemOf, TaskId, TaskOutput } from './types.ts';

/**
 * Triggers up to 1,000 runs of a task by its id and waits for all of them, in the code of another task. Otherwise like the task's own
 * `batchTriggerAndWait`.
 *
 * @example
 * const { runs } = await tasks.batchTriggerAndWait<typeof resizeImage>('resize-image', [{ payload: { url } }]);
 */
export async function batchTriggerAndWait<T extends AnyTask = AnyTask>(
  taskIdentifier: TaskId<T>,
  items: readonly ItemOf<T>[],
  options?: BatchOptions,
): Promise<BatchResult<RunResult<TaskId<T>, TaskOutput<T>>>> {
  const erased = items.map((item) => ({
    task: taskIdentifier,
    payload: item.payload,
    options: item.options,
  }));
  return triggerBatchAndWait(currentClient(), erased, options);
}
