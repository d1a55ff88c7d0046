import type { TaskManifest } from '@millrace/contract/runner';
import { unprocessable } from '../problem.ts';
import type { Engine } from '../runs/engine/engine.ts';

/** Whether a task is declared for schedules, with or without its own cron. */
export const isScheduledTask = (task: TaskManifest | undefined): boolean =>
  task !== undefined && (task.scheduled === true || task.schedule !== undefined);

/**
 * 422 unless the environment's current version has this scheduled task. If that version has no task with this id, the current version of
 * another environment of the project may have it: a schedule may exist before its task is deployed.
 */
export async function requireScheduledTask(engine: Engine, env: number, id: string): Promise<void> {
  const own = await deployedTask(engine, env, id);
  const found = own ? [own] : await tasksElsewhere(engine, env, id);
  if (!found.some(isScheduledTask)) throw unscheduled(found[0], id);
}

/** 422 unless the environment's current version has this scheduled task. */
export async function requireDeployedTask(engine: Engine, env: number, id: string): Promise<void> {
  const task = await deployedTask(engine, env, id);
  if (!isScheduledTask(task)) throw unscheduled(task, id);
}

async function deployedTask(
  { versions }: Engine,
  env: number,
  id: string,
): Promise<TaskManifest | undefined> {
  const task = (await versions.current(env))?.tasks.get(id);
  if (isScheduledTask(task)) return task;
  // The task may have just been deployed through another process.
  versions.forget(env);
  return (await versions.current(env))?.tasks.get(id);
}

async function tasksElsewhere({ sql }: Engine, env: number, id: string): Promise<TaskManifest[]> {
  const rows = await sql<{ manifest: TaskManifest }[]>`
    select t.manifest from environments own
    join environments e on e.project_id = own.project_id and e.archived_at is null
    join current_versions c on c.env = e.id
    join tasks t on t.version_id = c.version_id and t.id = ${id}
    where own.id = ${env}`;
  return rows.map((row) => row.manifest);
}

const unscheduled = (task: TaskManifest | undefined, id: string) =>
  unprocessable(
    task === undefined
      ? `Task with identifier ${id} not found in project. Deploy a version that declares it with schedules.task(), or use the id of a declared task.`
      : `Task with identifier ${id} is not a scheduled task. Declare it with schedules.task({ id: '${id}', run }) instead of task().`,
  );
