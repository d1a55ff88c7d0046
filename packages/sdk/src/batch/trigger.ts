import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { currentRun, parentOf } from '../run-scope.ts';
import type { AnyTask } from '../task/types.ts';
import type { BatchHandle } from './handle.ts';
import { sendBatch, type BatchItem } from './send-batch.ts';
import type { BatchOptions } from './types.ts';
import type { ItemById, ItemByTask } from './trigger-and-wait.ts';

/** Triggers a batch through the given client. */
export function triggerBatch(
  client: ApiClient,
  items: readonly BatchItem[],
  options: BatchOptions = {},
): Promise<BatchHandle> {
  // As with a single run, a custom credential may put the batch in an environment where this parent does not exist.
  const scope = client.settings.isAmbient ? currentRun() : undefined;
  const parentRunId = parentOf(scope);
  const parentFence = parentRunId === undefined ? undefined : scope?.fence;
  return sendBatch(client, items, { ...options, parentRunId, parentFence });
}

/**
 * Triggers up to 1,000 runs of several tasks together, by task id. Pass the types of the tasks to have the payloads checked. The runs start
 * once the last one is stored, in the order of the items.
 *
 * Throws before anything is sent if a payload cannot be serialized. Throws an ApiError if the server rejects the batch; none of the runs starts
 * then.
 *
 * @example
 * const { batchId } = await batch.trigger<typeof resizeImage | typeof sendMail>([
 *   { id: 'resize-image', payload: { url } },
 *   { id: 'send-mail', payload: { to }, options: { delay: '1h' } },
 * ]);
 */
export async function trigger<T extends AnyTask = AnyTask>(
  items: readonly ItemById<T>[],
  options?: BatchOptions,
): Promise<BatchHandle> {
  const erased = items.map((item) => ({
    task: item.id,
    payload: item.payload as unknown,
    options: item.options,
  }));
  return triggerBatch(currentClient(), erased, options);
}

/**
 * Like `batch.trigger`, with the tasks themselves instead of their ids.
 *
 * @example
 * await batch.triggerByTask([{ task: resizeImage, payload: { url } }, { task: sendMail, payload: { to } }]);
 */
export async function triggerByTask<const T extends readonly AnyTask[]>(
  items: { readonly [K in keyof T]: ItemByTask<T[K]> },
  options?: BatchOptions,
): Promise<BatchHandle> {
  const untyped = items as readonly ItemByTask<AnyTask>[];
  const erased = untyped.map((item) => ({
    task: item.task.id,
    payload: item.payload as unknown,
    options: item.options,
  }));
  return triggerBatch(currentClient(), erased, options);
}
