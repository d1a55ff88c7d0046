import type { RunStatus, TaskDetail, TaskInfo } from '@millrace/contract';
import { completeRateLimit, recentRuns } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import type { Engine } from '../engine/engine.ts';
import { findRuns } from '../list/find.ts';
import { liveStatus, whereabouts } from '../retrieve/retrieve.ts';

const maxLastRuns = 10;

/** The tasks of the current version, by id. */
export async function listTasks({ versions }: Pick<Engine, 'versions'>, env: number): Promise<TaskInfo[]> {
  const current = await versions.current(env);
  if (!current) return [];
  return [...current.tasks.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((task) => infoOf(task, current.version));
}

/** A task of the current version, with statistics of its latest runs. Undefined if that version does not have it. */
export async function retrieveTask(
  { sql, versions }: Engine,
  env: number,
  id: string,
): Promise<TaskDetail | undefined> {
  const current = await versions.current(env);
  const task = current?.tasks.get(id);
  if (!current || !task) return undefined;
  const [runs, [stored]] = await Promise.all([
    readRecent(sql, env, id),
    // The schema is large and only shown to people, so cached tasks do not include it.
    sql<Pick<TaskDetail, 'payloadSchema'>[]>`
      select payload_schema as "payloadSchema" from tasks where version_id = ${current.id} and id = ${id}`,
  ]);
  return {
    ...infoOf(task, current.version),
    payloadSchema: stored?.payloadSchema ?? null,
    recent: recentOf(runs),
    lastRuns: runs.slice(0, maxLastRuns).map((run) => ({
      id: run.id,
      status: run.status,
      ...(run.version !== null && { version: run.version }),
      createdAt: run.created_at.toISOString(),
      ...(run.finished_at && { finishedAt: run.finished_at.toISOString() }),
      durationMs: Number(run.duration_ms),
    })),
  };
}

const infoOf = (task: TaskManifest, version: string): TaskInfo => ({
  id: task.id,
  version,
  ...(task.description !== undefined && { description: task.description }),
  ...(task.owner !== undefined && { owner: task.owner }),
  filePath: task.filePath,
  ...(task.exportName !== undefined && { exportName: task.exportName }),
  queue: {
    name: task.queue?.name ?? `task/${task.id}`,
    concurrencyLimit: task.queue?.concurrencyLimit ?? null,
    rateLimit: task.queue?.rateLimit ? completeRateLimit(task.queue.rateLimit) : null,
  },
  ...(task.retry && { retry: task.retry }),
  ...(task.maxDuration !== undefined && { maxDuration: task.maxDuration }),
  ...(task.machine !== undefined && { machine: task.machine }),
  isolated: task.isolated ?? false,
  ...(task.ttl !== undefined && { ttl: task.ttl }),
  ...(task.schedule && { schedule: task.schedule }),
  ...(task.on && { on: task.on }),
  requires: task.requires ?? [],
});

interface RecentRow {
  readonly id: string;
  readonly status: RunStatus;
  readonly version: string | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly duration_ms: string;
}

/** The latest runs, newest first. They are found as in lists, so the cost does not grow with the history. */
async function readRecent(sql: Queryable, env: number, task: string): Promise<RecentRow[]> {
  const { runs } = await findRuns(
    sql,
    { envs: [env], tasks: [task] },
    { low: '', high: '~', backward: false, limit: recentRuns },
  );
  return sql<RecentRow[]>`
    select f.id, ${liveStatus(sql)} as status, coalesce(v.version, lv.version) as version, f.created_at, f.finished_at, f.duration_ms
      from unnest(${runs.map((run) => run.id)}::text[]) as i (id)
      cross join lateral (select r.* from runs r where r.env = ${env} and r.id = i.id limit 1) f ${whereabouts(sql)}
     order by f.id desc`;
}

const failures: ReadonlySet<RunStatus> = new Set(['FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT']);

function recentOf(runs: readonly RecentRow[]): TaskDetail['recent'] {
  const completed = runs.filter((run) => run.status === 'COMPLETED');
  const failed = runs.filter((run) => failures.has(run.status)).length;
  const ended = runs.filter((run) => run.status === 'CANCELED' || run.status === 'EXPIRED').length;
  const durations = completed.map((run) => Number(run.duration_ms)).toSorted((a, b) => a - b);
  const judged = completed.length + failed;
  return {
    runs: runs.length,
    from: runs.at(-1)?.created_at.toISOString() ?? null,
    completed: completed.length,
    failed,
    ended,
    live: runs.length - judged - ended,
    successRate: judged === 0 ? null : completed.length / judged,
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
  };
}

/** The nearest-rank percentile. */
const percentile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
