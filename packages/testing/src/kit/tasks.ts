import type { TaskManifest } from '@millrace/contract/runner';
import { findTasks, manifestOf } from '@millrace/sdk/executor';
import type { AnyTask } from '@millrace/sdk';
import { withDefaults, type Task } from 'millrace/in-process';

/** A task, or a module with tasks among its exports (`import * as tasks from …`). */
export type TaskSource = AnyTask | Readonly<Record<string, unknown>>;

export interface TaskDefaults {
  /** Like `retry` in millrace.config.ts: for tasks that declare none. */
  readonly retry?: object | undefined;
  /** Like `maxDuration` in millrace.config.ts, in seconds. */
  readonly maxDuration?: number | undefined;
}

export interface TaskSet {
  readonly tasks: ReadonlyMap<string, Task>;
  readonly manifests: readonly TaskManifest[];
}

/** The tasks in the test's options. Throws a TypeError that explains the fix. */
export function readTasks(sources: readonly TaskSource[], defaults: TaskDefaults): TaskSet {
  if (!Array.isArray(sources))
    throw new TypeError(
      'tasks must be an array of tasks, or of modules with tasks: { tasks: [order, sendMail] }.',
    );
  const tasks = new Map<string, Task>();
  const manifests: TaskManifest[] = [];
  for (const [index, source] of sources.entries()) {
    const found = findTasks({ task: source, ...(source as object) });
    if (found.length === 0) {
      throw new TypeError(
        `tasks[${index}] is not a task or a module with tasks. Pass the return value of task(…), or \`import * as tasks\` of a file that exports some.`,
      );
    }
    for (const { task } of found) {
      const known = tasks.get(task.id);
      if (known && originals.get(known) !== task)
        throw new TypeError(`Two tasks have the id "${task.id}": give each a unique id.`);
      if (known) continue;
      const complete = withDefaults(task, defaults);
      originals.set(complete, task);
      tasks.set(task.id, complete);
      // In a dev environment, runs of tasks without a ttl expire after ten minutes, because there may be no runner. Here the clock is
      // advanced, so they must not.
      const manifest = manifestOf(complete, 'test');
      manifests.push({ ...manifest, ttl: manifest.ttl ?? 0 });
    }
  }
  if (tasks.size === 0)
    throw new TypeError('tasks is empty: pass the tasks that the test runs, such as { tasks: [order] }.');
  return { tasks, manifests };
}

const originals = new WeakMap<object, object>();
