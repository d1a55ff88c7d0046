import type { Sdk } from './sdk.ts';
import type { TaskDefaults } from './messages.ts';

export type Task = ReturnType<Sdk['findTasks']>[number]['task'];
type Definition = Task[keyof Task & symbol] & object;

/** The SDK's brand, under which a task object keeps its declaration. Registered, so that it is one symbol in all copies. */
const brand = Symbol.for('@millrace/sdk/task');
type Branded = Readonly<Record<typeof brand, Definition>>;

const redeclare = (task: Task, changes: object): Task =>
  ({ ...task, [brand]: { ...(task as unknown as Branded)[brand], ...changes } }) as Task;

/** The task with the project's settings where it has none of its own. */
export function withDefaults(task: Task, defaults: TaskDefaults): Task {
  const own = (task as unknown as Branded)[brand] as TaskDefaults;
  return redeclare(task, {
    retry: own.retry ?? defaults.retry,
    maxDuration: own.maxDuration ?? defaults.maxDuration,
  });
}

export const maxDurationOf = (task: Task): number | undefined =>
  ((task as unknown as Branded)[brand] as TaskDefaults).maxDuration;

/** What the author wrote: all objects that stand for one declaration have the same. */
export const runOf = (task: Task): unknown =>
  ((task as unknown as Branded)[brand] as { readonly run: unknown }).run;

/** A task that does nothing but throw this: what its attempt comes to follows the task's own rules for retries. */
export const throwing = (task: Task, thrown: unknown): Task =>
  redeclare(task, {
    schema: undefined,
    run: () => {
      throw thrown;
    },
  });
