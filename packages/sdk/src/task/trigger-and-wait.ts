import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { insist } from '../client/insist.ts';
import type { RunScope } from '../run-scope.ts';
import { nextOf, ownKey, waitingRun } from '../wait/in-run.ts';
import { ResultPromise } from '../wait/result-promise.ts';
import { openResult, resultOf, type RunResult } from './run-result.ts';
import { triggerThrough } from './trigger.ts';
import type { TriggerOptions } from './trigger-options.ts';
import type { AnyTask, TaskId, TaskInput, TaskOutput, TriggerArguments } from './types.ts';

/** Triggers a run through the given client and waits for it to end. */
export async function triggerAndWaitThrough<TId extends string, TOutput>(
  client: ApiClient,
  taskIdentifier: TId,
  payload: unknown,
  options: TriggerOptions = {},
  /** Called with the id of the run before the wait. */
  onTriggered: (run: string) => void = () => {},
): Promise<RunResult<TId, TOutput>> {
  const run = waitingRun('triggerAndWait');
  ownEnvironment(client, 'triggerAndWait');
  // When the code is executed again, it finds the run that it triggered before, even if that run has failed since then.
  const waitKey =
    options.idempotencyKey === undefined
      ? ownKey(run, `${taskIdentifier}/${nextOf(run.waits, `run/${taskIdentifier}`)}`)
      : undefined;
  const bound = onVersionOf(run, options);
  const { id } = await insist(
    () => triggerThrough(client, taskIdentifier, payload, bound, waitKey),
    run.signal,
  );
  onTriggered(id);
  await run.waits.begin({ key: `run/${id}`, kind: 'RUN', target: id });
  const params = { runId: id };
  return resultOf(
    await openResult(client, await insist(() => client.call('retrieveRunResult', { params }), run.signal)),
  );
}

/** A run that another run waits for starts on the same version unless its options specify one, because the two belong together. */
export const onVersionOf = (
  { version }: Pick<RunScope, 'version'>,
  options: TriggerOptions = {},
): TriggerOptions =>
  version === undefined || options.version !== undefined || options.externalDeploymentId !== undefined
    ? options
    : { ...options, version };

/** Throws unless the client uses the run's own environment, because another server could not resume the run. */
export function ownEnvironment({ settings }: ApiClient, what: string): void {
  if (settings.isAmbient) return;
  throw new Error(
    `${what} works with the run's own environment: it cannot be used with a different credential (configure, auth.withAuth).`,
  );
}

/**
 * Triggers a run of a task by its id and waits for it to end, in the code of another task. Otherwise like the task's own `triggerAndWait`.
 *
 * @example
 * const { bytes } = await tasks.triggerAndWait<typeof resizeImage>('resize-image', { url }).unwrap();
 */
export function triggerAndWait<T extends AnyTask = AnyTask>(
  taskIdentifier: TaskId<T>,
  ...[payload, options]: TriggerArguments<TaskInput<T>>
): ResultPromise<RunResult<TaskId<T>, TaskOutput<T>>> {
  return ResultPromise.of(triggerAndWaitThrough(currentClient(), taskIdentifier, payload, options));
}
