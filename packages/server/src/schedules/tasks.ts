import type { TaskManifest } from '@millrace/contract/runner';
import { unprocessable } from '../problem.ts';
import type { Engine } from '../runs/engine.ts';

/** Whether a task is declared for schedules, with or without a cron of its own. */
export const isScheduledTask = (task: TaskManifest | undefined): boolean =>
  task !== undefined && (task.scheduled === true || task.schedule !== undefined);

/** 422 unless the environment's current version has this scheduled task. */
export async function requireScheduledTask({ versions }: Engine, env: number, id: string): Promise<void> {
  let task = (await versions.current(env))?.tasks.get(id);
  if (!isScheduledTask(task)) {
    // Deployed a moment ago through another process, perhaps.
    versions.forget(env);
    task = (await versions.current(env))?.tasks.get(id);
  }
  if (isScheduledTask(task)) return;
  throw unprocessable(
    task === undefined
      ? `Task with identifier ${id} not found in project. Deploy a version that declares it with schedules.task(), or write the id of one that is.`
      : `Task with identifier ${id} is not a scheduled task. Declare it with schedules.task({ id: '${id}', run }) instead of task().`,
  );
}
