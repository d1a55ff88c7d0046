import { currentClient } from '../client/current-client.ts';
import { insist } from '../client/insist.ts';
import { ownEnvironment } from '../task/trigger-and-wait.ts';
import { decode } from '../payload/decode.ts';
import { openResult, resultOf, subtaskError, type RunResult } from '../task/run-result.ts';
import { triggerThrough } from '../task/trigger.ts';
import type { TriggerOptions } from '../task/trigger-options.ts';
import type { AnyTask, TaskId, TaskInput, TaskOutput, TriggerArguments } from '../task/types.ts';
import { waitingRun } from '../wait/in-run.ts';
import { ResultPromise } from '../wait/result-promise.ts';
import { ownSteps } from './steps.ts';

/** A run that a step triggered. */
export interface TriggeredRun<TId extends string = string> {
  readonly id: string;
  readonly taskIdentifier: TId;
}

/** The id of the task that a step triggers: the task itself, or its id. */
function idOf<T extends AnyTask>(what: string, task: T | TaskId<T>): TaskId<T> {
  const id: unknown = typeof task === 'string' ? task : (task as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError(`${what} requires a task or its id after the name.`);
}

/**
 * Triggers a run once. When the code executes again, or the run is retried, the step returns the run that it triggered before.
 *
 * @example
 * const { id } = await step.trigger('confirm', sendMail, { to: order.email });
 */
export async function trigger<T extends AnyTask>(
  name: string,
  task: T | TaskId<T>,
  ...[payload, options]: TriggerArguments<TaskInput<T>>
): Promise<TriggeredRun<TaskId<T>>> {
  const steps = ownSteps('step.trigger');
  const taskIdentifier = idOf<T>('step.trigger', task);
  const client = currentClient();
  return steps.enter<TriggeredRun<TaskId<T>>>(
    { kind: 'TRIGGER', name, subject: taskIdentifier },
    ({ detail = '' }) => ({ id: detail.slice(taskIdentifier.length + 1), taskIdentifier }),
    async (key) => {
      const from = performance.now();
      const waitKey = keyOf(options, `${steps.scope.run} step/${key}`);
      const send = () => triggerThrough(client, taskIdentifier, payload, options, waitKey);
      const { id } = await insist(send, steps.scope.signal);
      const detail = `${taskIdentifier} ${id}`;
      const ended = { kind: 'TRIGGER', status: 'COMPLETED', tries: 1, detail } as const;
      await steps.store(key, { ...ended, tookMs: performance.now() - from });
      return { id, taskIdentifier };
    },
  );
}

/**
 * Triggers a run and waits for it to end, like the task's own `triggerAndWait`. The output of a completed run is stored. If the run failed,
 * a retry of the calling run triggers another one.
 *
 * @example
 * const { url } = await step.triggerAndWait('invoice', makeInvoice, { order: order.id }).unwrap();
 */
export function triggerAndWait<T extends AnyTask>(
  name: string,
  task: T | TaskId<T>,
  ...[payload, options]: TriggerArguments<TaskInput<T>>
): ResultPromise<RunResult<TaskId<T>, TaskOutput<T>>> {
  return ResultPromise.of(waitForRun<T>(name, task, payload, options));
}

async function waitForRun<T extends AnyTask>(
  name: string,
  task: T | TaskId<T>,
  payload: unknown,
  options: TriggerOptions | undefined,
): Promise<RunResult<TaskId<T>, TaskOutput<T>>> {
  type Result = RunResult<TaskId<T>, TaskOutput<T>>;
  const what = 'step.triggerAndWait';
  const steps = ownSteps(what);
  const { waits, signal } = waitingRun(what);
  const taskIdentifier = idOf<T>(what, task);
  const client = currentClient();
  ownEnvironment(client, what);
  return steps.enter<Result>(
    { kind: 'TRIGGER_AND_WAIT', name, subject: taskIdentifier },
    async (stored) => {
      const id = (stored.detail ?? '').slice(taskIdentifier.length + 1);
      if (stored.status === 'COMPLETED')
        return {
          ok: true,
          id,
          taskIdentifier,
          output: (await steps.resultOf(stored, `output ${id}`)) as TaskOutput<T>,
        };
      const error = stored.error ?? { message: 'It failed.' };
      const opened = await steps.openError(stored.name, error, `error ${id}`);
      return { ok: false, id, taskIdentifier, error: subtaskError(taskIdentifier, id, opened) };
    },
    async (key, failed) => {
      const from = performance.now();
      // After a failure in an earlier attempt, triggers another run.
      const waitKey = keyOf(options, `${steps.scope.run} step/${key}/${failed?.attempt ?? 0}`);
      const send = () => triggerThrough(client, taskIdentifier, payload, options, waitKey);
      const { id } = await insist(send, signal);
      await waits.begin({ key: `run/${id}`, kind: 'RUN', target: id });
      const wire = await insist(() => client.call('retrieveRunResult', { params: { runId: id } }), signal);
      // Stored as received, so sealed data remains as the run sealed it.
      const opened = await openResult(client, wire);
      const detail = `${taskIdentifier} ${id}`;
      const ended = { kind: 'TRIGGER_AND_WAIT', tries: 1, tookMs: performance.now() - from, detail } as const;
      if (!wire.ok) {
        await steps.store(key, {
          ...ended,
          status: 'FAILED',
          error: { message: 'It failed.', ...wire.error },
        });
      } else if (wire.output === undefined || wire.outputType === 'application/json') {
        await steps.store(key, {
          ...ended,
          status: 'COMPLETED',
          output: wire.output,
          outputType: wire.outputType,
        });
      } else {
        const { output, outputType } = wire;
        // An output that cannot be read now could not be read later either.
        if (opened.ok) decode(opened.output ?? null, opened.outputType);
        await steps.store(key, { ...ended, status: 'COMPLETED', output, outputType });
      }
      return resultOf<TaskId<T>, TaskOutput<T>>(opened);
    },
  );
}

/** Callers that pass their own idempotency key decide what is triggered only once. */
const keyOf = (options: TriggerOptions | undefined, waitKey: string): string | undefined =>
  options?.idempotencyKey === undefined ? waitKey : undefined;
