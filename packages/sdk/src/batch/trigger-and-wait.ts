import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { insist } from '../client/insist.ts';
import { openResult, resultOf, type RunResult } from '../task/run-result.ts';
import { onVersionOf, ownEnvironment } from '../task/trigger-and-wait.ts';
import type { AnyTask, ItemOf, TaskId, TaskOutput } from '../task/types.ts';
import { nextOf, ownKey, waitingRun } from '../wait/in-run.ts';
import type { BatchOptions, BatchResult } from './types.ts';
import { sendBatch, type BatchItem } from './send-batch.ts';

/** A run in a batch, with its task given by id. */
export type ItemById<T extends AnyTask> = T extends AnyTask ? { readonly id: TaskId<T> } & ItemOf<T> : never;

/** A run in a batch, with its task given directly. */
export type ItemByTask<T extends AnyTask> = { readonly task: T } & ItemOf<T>;

/** The result of a run of one of the tasks. */
export type ResultOf<T extends AnyTask> = T extends AnyTask ? RunResult<TaskId<T>, TaskOutput<T>> : never;

/** Triggers a batch through the given client and waits until all of its runs have ended. */
export async function triggerBatchAndWait(
  client: ApiClient,
  items: readonly BatchItem[],
  options: BatchOptions = {},
): Promise<BatchResult> {
  const run = waitingRun('batchTriggerAndWait');
  ownEnvironment(client, 'batchTriggerAndWait');
  if (items.length === 0) return { id: '', runs: [] };
  // As with a single run, re-executed code finds the batch that it created before.
  const key =
    options.idempotencyKey === undefined
      ? { waitKey: ownKey(run, `batch/${nextOf(run.waits, 'batch')}`) }
      : options;
  const parent = { parentRunId: run.run, parentFence: run.fence, resumeParentOnCompletion: true };
  const bound = items.map((item) => ({ ...item, options: onVersionOf(run, item.options) }));
  const { batchId: id } = await insist(() => sendBatch(client, bound, { ...key, ...parent }), run.signal);
  await run.waits.begin({ key: `batch/${id}`, kind: 'BATCH', target: id });
  const params = { batchId: id };
  const results = await insist(() => client.call('listBatchResults', { params }), run.signal);
  return {
    id,
    runs: (await Promise.all(results.items.map((item) => openResult(client, item)))).map((item) =>
      resultOf(item),
    ),
  };
}

/**
 * Triggers runs of several tasks by their ids and waits until all have ended. Only in the code of a task.
 *
 * @example
 * const { runs } = await batch.triggerAndWait<typeof resizeImage | typeof readText>([
 *   { id: 'resize-image', payload: { url } },
 *   { id: 'read-text', payload: { url } },
 * ]);
 */
export async function triggerAndWait<T extends AnyTask = AnyTask>(
  items: readonly ItemById<T>[],
  options?: BatchOptions,
): Promise<BatchResult<ResultOf<T>>> {
  const erased = items.map((item) => ({
    task: item.id,
    payload: item.payload as unknown,
    options: item.options,
  }));
  return (await triggerBatchAndWait(currentClient(), erased, options)) as BatchResult<ResultOf<T>>;
}

/**
 * Triggers runs of several tasks and waits until all have ended. Only in the code of a task. Each result has the type of its task.
 *
 * @example
 * const { runs: [image, text] } = await batch.triggerByTaskAndWait([
 *   { task: resizeImage, payload: { url } },
 *   { task: readText, payload: { url } },
 * ]);
 */
export async function triggerByTaskAndWait<const TTasks extends readonly AnyTask[]>(
  items: { readonly [K in keyof TTasks]: ItemByTask<TTasks[K]> },
  options?: BatchOptions,
): Promise<{ readonly id: string; readonly runs: { readonly [K in keyof TTasks]: ResultOf<TTasks[K]> } }> {
  const erased = (items as readonly ItemByTask<AnyTask>[]).map(({ task, payload, options: own }) => ({
    task: task.id,
    payload: payload as unknown,
    options: own,
  }));
  return (await triggerBatchAndWait(currentClient(), erased, options)) as never;
}
