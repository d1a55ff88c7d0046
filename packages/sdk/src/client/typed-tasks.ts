import type { batch } from '../batch/index.ts';
import type { BatchHandle } from '../batch/handle.ts';
import type { ItemById, ResultOf } from '../batch/trigger-and-wait.ts';
import type { BatchOptions, BatchResult } from '../batch/types.ts';
import type { tasks } from '../task/index.ts';
import type { RunResult } from '../task/run-result.ts';
import type {
  AnyTask,
  ItemOf,
  RunHandle,
  TaskId,
  TaskInput,
  TaskOutput,
  TriggerArguments,
} from '../task/types.ts';
import type { ResultPromise } from '../wait/result-promise.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;

/** The tasks among the members of a type, such as `typeof tasks` after `import type * as tasks from './tasks'`. */
export type TasksIn<T> = {
  [K in keyof T]: IsAny<T[K]> extends true ? never : T[K] extends AnyTask ? T[K] : never;
}[keyof T];

type WithId<T extends AnyTask, TId extends TaskId<T>> = Extract<T, { readonly id: TId }>;

/** `tasks` of a client that knows the task types: the id determines the payload and output types. */
export interface TypedTasks<T extends AnyTask> extends Omit<
  typeof tasks,
  'trigger' | 'batchTrigger' | 'triggerAndWait' | 'batchTriggerAndWait'
> {
  /** Like `tasks.trigger`. */
  trigger<TId extends TaskId<T>>(
    taskIdentifier: TId,
    ...args: TriggerArguments<TaskInput<WithId<T, TId>>>
  ): Promise<RunHandle<TId, TaskOutput<WithId<T, TId>>>>;
  /** Like `tasks.batchTrigger`. */
  batchTrigger<TId extends TaskId<T>>(
    taskIdentifier: TId,
    items: readonly ItemOf<WithId<T, TId>>[],
    options?: BatchOptions,
  ): Promise<BatchHandle>;
  /** Like `tasks.triggerAndWait`. */
  triggerAndWait<TId extends TaskId<T>>(
    taskIdentifier: TId,
    ...args: TriggerArguments<TaskInput<WithId<T, TId>>>
  ): ResultPromise<RunResult<TId, TaskOutput<WithId<T, TId>>>>;
  /** Like `tasks.batchTriggerAndWait`. */
  batchTriggerAndWait<TId extends TaskId<T>>(
    taskIdentifier: TId,
    items: readonly ItemOf<WithId<T, TId>>[],
    options?: BatchOptions,
  ): Promise<BatchResult<RunResult<TId, TaskOutput<WithId<T, TId>>>>>;
}

/** `batch` of a client that knows the task types. */
export interface TypedBatch<T extends AnyTask> extends Omit<typeof batch, 'trigger' | 'triggerAndWait'> {
  /** Like `batch.trigger`. */
  trigger(items: readonly ItemById<T>[], options?: BatchOptions): Promise<BatchHandle>;
  /** Like `batch.triggerAndWait`. */
  triggerAndWait(items: readonly ItemById<T>[], options?: BatchOptions): Promise<BatchResult<ResultOf<T>>>;
}
