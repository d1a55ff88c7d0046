import type { BatchOptions, BatchResult } from '../batch/types.ts';
import type { ResultPromise } from '../wait/result-promise.ts';
import type { RunResult } from './run-result.ts';
import type { BatchHandle } from '../batch/handle.ts';
import type { TriggerOptions } from './trigger-options.ts';
import type { TaskDefinition } from './definition.ts';

/**
 * The key of a task object's definition, which also identifies task objects among a module's exports. A registered symbol, so that two
 * copies of this package agree.
 */
export const taskBrand: unique symbol = Symbol.for('@millrace/sdk/task') as never;

declare const types: unique symbol;

/** The arguments of `trigger`: the payload is optional if it may be undefined. */
export type TriggerArguments<TInput> = undefined extends TInput
  ? [payload?: TInput, options?: TriggerOptions]
  : [payload: TInput, options?: TriggerOptions];

/** A triggered run. */
export interface RunHandle<TId extends string = string, TOutput = unknown> {
  /** `run_…` */
  readonly id: string;
  readonly taskIdentifier: TId;
  /** True when an idempotency key or a singleton matched an existing run. */
  readonly isCached: boolean;
  /** True if the task's trigger limit dropped it, in which case there is no run and `id` is empty. */
  readonly isDropped: boolean;
  /** A token with which a frontend may read this run. Undefined when the server sent none. */
  readonly publicAccessToken: string | undefined;
  /** Only for the output's type. */
  readonly [types]?: TOutput;
}

/** A declared task. Export it from a task file. */
export interface Task<TId extends string, TInput, TOutput> {
  readonly id: TId;
  readonly description: string | undefined;
  /**
   * Triggers a run. Resolves when the server has stored it, without waiting for it to execute. Concurrent calls share a request.
   *
   * Throws an UnserializableError for a payload that cannot be serialized, a ConfigurationError without an address or key, and an ApiError if
   * the server rejects the request.
   *
   * @example
   * const handle = await resizeImage.trigger({ url }, { delay: '10m', tags: ['avatar'] });
   */
  trigger(...args: TriggerArguments<TInput>): Promise<RunHandle<TId, TOutput>>;
  /**
   * Triggers a run and waits for it to end, in the code of another task: `{ ok: true, output }` or `{ ok: false, error }`, a SubtaskError;
   * `.unwrap()` returns the output or throws that error. The waiting run occupies no slot of its queue or runner.
   *
   * If its runner is lost, the code of the waiting run starts over from the beginning and finds the run that it triggered before, so it
   * does not trigger a second one.
   *
   * @example
   * const { bytes } = await resizeImage.triggerAndWait({ url }).unwrap();
   */
  triggerAndWait(...args: TriggerArguments<TInput>): ResultPromise<RunResult<TId, TOutput>>;
  /**
   * Triggers several runs and waits until all have ended, in the code of another task. Returns their results in the order of the items, each in
   * the form that `triggerAndWait` returns. At most 1,000 items.
   *
   * @example
   * const { runs } = await resizeImage.batchTriggerAndWait([{ payload: { url } }, { payload: { url: other } }]);
   * for (const run of runs) if (run.ok) console.log(run.output.bytes);
   */
  batchTriggerAndWait(
    items: readonly ItemOf<Task<TId, TInput, TOutput>>[],
    options?: BatchOptions,
  ): Promise<BatchResult<RunResult<TId, TOutput>>>;
  /**
   * Triggers up to 1,000 runs together. They start once the last one is stored, in the order of the items.
   *
   * Throws before anything is sent if a payload cannot be serialized. Throws an ApiError if the server rejects the batch; none of the runs
   * starts then.
   *
   * @example
   * const { batchId } = await resizeImage.batchTrigger(urls.map((url) => ({ payload: { url } })));
   */
  batchTrigger(
    items: readonly ItemOf<Task<TId, TInput, TOutput>>[],
    options?: BatchOptions,
  ): Promise<BatchHandle>;
  readonly [taskBrand]: TaskDefinition;
  /** Only for the types. */
  readonly [types]?: { readonly input: TInput; readonly output: TOutput };
}

/** Any task, regardless of its payload and output types. */
// oxlint-disable-next-line typescript/no-explicit-any -- a payload is contravariant: only `any` accepts every task
export type AnyTask = Task<string, any, any>;

/** The id of a task type. */
export type TaskId<T extends AnyTask> = T['id'];

/** The payload type of a task: `TaskInput<typeof myTask>`. */
export type TaskInput<T extends AnyTask> = NonNullable<T[typeof types]>['input'];

/** The output type of a task: `TaskOutput<typeof myTask>`. */
export type TaskOutput<T extends AnyTask> = NonNullable<T[typeof types]>['output'];

type PayloadOf<T extends AnyTask> =
  undefined extends TaskInput<T> ? { readonly payload?: TaskInput<T> } : { readonly payload: TaskInput<T> };

/** A run of one task in a batch. */
export type ItemOf<T extends AnyTask> = PayloadOf<T> & { readonly options?: TriggerOptions };
