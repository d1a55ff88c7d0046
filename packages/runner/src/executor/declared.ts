import type { Sdk } from './sdk.ts';
import type { TaskDefaults } from './messages.ts';

export type Task = ReturnType<Sdk['findTasks']>[number]['task'];
type Definition = Task[keyof Task & symbol] & object;

/** The registered symbol under which a task object holds its declaration; the same in all copies of the SDK. */
const brand = Symbol.for('@millrace/sdk/task');
type Branded = Readonly<Record<typeof brand, Definition>>;

const redeclare = (task: Task, changes: object): Task =>
  ({ ...task, [brand]: { ...(task as unknown as Branded)[brand], ...changes } }) as Task;

/** The task with the project's defaults. */
export function withDefaults(task: Task, defaults: TaskDefaults): Task {
  const own = (task as unknown as Branded)[brand] as TaskDefaults;
  return redeclare(task, {
    retry: own.retry ?? defaults.retry,
    maxDuration: own.maxDuration ?? defaults.maxDuration,
  });
}

export const maxDurationOf = (task: Task): number | undefined =>
  ((task as unknown as Branded)[brand] as TaskDefaults).maxDuration;

/** The declaration object. It is shared by all copies of a task. */
export const runOf = (task: Task): unknown =>
  ((task as unknown as Branded)[brand] as { readonly run: unknown }).run;

/** A task that only throws this error, so that the task's own retry rules apply. */
export const throwing = (task: Task, thrown: unknown): Task =>
  redeclare(task, {
    schema: undefined,
    run: () => {
      throw thrown;
    },
  });
