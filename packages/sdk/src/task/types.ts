import type { TriggerOptions } from './trigger-options.ts';
import type { TaskDefinition } from './definition.ts';

/**
 * Where a task object keeps its definition, and how it is told from anything else that a module exports. Registered, so that
 * two copies of this package agree.
 */
export const taskBrand: unique symbol = Symbol.for('@millrace/sdk/task') as never;

declare const types: unique symbol;

/** The arguments of `trigger`: the payload may be left out where it may be undefined. */
export type TriggerArguments<TInput> = undefined extends TInput
  ? [payload?: TInput, options?: TriggerOptions]
  : [payload: TInput, options?: TriggerOptions];

/** A run that was triggered. */
export interface RunHandle<TId extends string = string, TOutput = unknown> {
  /** `run_…` */
  readonly id: string;
  readonly taskIdentifier: TId;
  /** True when an idempotency key found a run that was there already. */
  readonly isCached: boolean;
  /** A token for a frontend that may read this run. Undefined when the server sent none. */
  readonly publicAccessToken: string | undefined;
  /** Carries the output's type; never there. */
  readonly [types]?: TOutput;
}

/** A declared task. Export it from a task file. */
export interface Task<TId extends string, TInput, TOutput> {
  readonly id: TId;
  readonly description: string | undefined;
  /**
   * Starts a run. Resolves when the server has stored it, without waiting for it to execute. Calls made at the same time share
   * a request.
   *
   * Throws an UnserializableError for a payload that cannot be sent, a ConfigurationError without address or key, an ApiError
   * for what the server refuses.
   *
   * @example
   * const handle = await resizeImage.trigger({ url }, { delay: '10m', tags: ['avatar'] });
   */
  trigger(...args: TriggerArguments<TInput>): Promise<RunHandle<TId, TOutput>>;
  readonly [taskBrand]: TaskDefinition;
  /** Carries the types; never there. */
  readonly [types]?: { readonly input: TInput; readonly output: TOutput };
}

/** Any task, whatever it takes and gives. */
// oxlint-disable-next-line typescript/no-explicit-any -- a payload is contravariant: only `any` accepts every task
export type AnyTask = Task<string, any, any>;

/** The id of a task type. */
export type TaskId<T extends AnyTask> = T['id'];

/** What a task takes: `TaskInput<typeof myTask>`. */
export type TaskInput<T extends AnyTask> = NonNullable<T[typeof types]>['input'];

/** What a task returns: `TaskOutput<typeof myTask>`. */
export type TaskOutput<T extends AnyTask> = NonNullable<T[typeof types]>['output'];
