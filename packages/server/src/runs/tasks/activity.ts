import type { Operations, Query, Reply, TaskActivity, TaskInfo, TaskSort } from '@millrace/contract';
import { readWaiting, type Waiting } from '../../queues/waiting.ts';
import { failuresOf, readSeries, totalOf, type StatsPoint } from '../../telemetry/stats/read.ts';
import { seriesName } from '../../telemetry/stats/series.ts';
import type { Engine } from '../engine/engine.ts';
import { listTasks } from './read.ts';

type Listed = Operations['listTaskActivity'];

const hourMs = 3_600_000;
const hours = 24;

/**
 * A page of the tasks of the current version with their figures of the last day, searched and sorted over all of them. The figures are read
 * from the hourly roll-ups, at most 25 rows for each task, so the cost does not depend on the number of runs.
 */
export async function listTaskActivity(
  { sql, versions, clock }: Engine,
  env: number,
  { page, perPage, sort, 'filter[search]': search = '', 'filter[owner]': owners = [] }: Query<Listed>,
): Promise<Reply<Listed>> {
  const all = await listTasks({ versions }, env);
  const text = search.toLowerCase();
  const names = new Set(owners.map((owner) => owner.toLowerCase()));
  const found = all.filter(
    ({ id, description = '', filePath, owner = '' }) =>
      (names.size === 0 || names.has(owner.toLowerCase())) &&
      `${id}\n${description}\n${filePath}`.toLowerCase().includes(text),
  );
  const from = (page - 1) * perPage;
  const cut = <T>(tasks: readonly T[]): readonly T[] => tasks.slice(from, from + perPage);
  // In the order of names, only the page needs figures.
  const tasks = sort === 'name' ? cut(found) : found;
  const end = Math.ceil(clock.now() / hourMs) * hourMs;
  const [series, waiting] = await Promise.all([
    readSeries(
      sql,
      env,
      tasks.map(({ id }) => seriesName.task(id)),
      { from: new Date(end - hours * hourMs), to: new Date(end), stepMs: hourMs, widthMinutes: 60 },
    ),
    readWaiting(sql, env),
  ]);
  const rows = tasks.map((task) =>
    activityOf(task, series.get(seriesName.task(task.id)) ?? [], waiting.get(task.queue.name)),
  );
  const data = sort === 'name' ? rows : cut(sorted(rows, sort));
  return {
    data: [...data],
    pagination: {
      currentPage: page,
      totalPages: Math.max(1, Math.ceil(found.length / perPage)),
      count: found.length,
    },
    total: all.length,
  };
}

const valueOf: Readonly<Record<Exclude<TaskSort, 'name'>, (row: TaskActivity) => number | null>> = {
  runs: ({ triggered }) => triggered,
  failed: ({ failed }) => failed,
  // The lowest rate comes first.
  success: ({ successRate }) => (successRate === null ? null : -successRate),
  p50: ({ p50Ms }) => p50Ms,
  p95: ({ p95Ms }) => p95Ms,
  waiting: ({ waiting }) => waiting,
  oldest: ({ oldestMs }) => oldestMs,
};

/** Equal values stay in the order of names. */
function sorted(rows: readonly TaskActivity[], sort: Exclude<TaskSort, 'name'>): readonly TaskActivity[] {
  const value = (row: TaskActivity): number => valueOf[sort](row) ?? -Infinity;
  return rows.toSorted((a, b) => (value(b) === value(a) ? 0 : value(b) - value(a)));
}

function activityOf(task: TaskInfo, points: readonly StatsPoint[], queue: Waiting | undefined): TaskActivity {
  const total = totalOf(points);
  const failed = failuresOf(total);
  const [p50, p95] = total.lasted.quantiles([0.5, 0.95]);
  return {
    ...task,
    triggered: total.triggered,
    completed: total.completed,
    failed,
    successRate: total.completed + failed === 0 ? null : total.completed / (total.completed + failed),
    p50Ms: rounded(p50),
    p95Ms: rounded(p95),
    ended: points.map((point) => point.completed + failuresOf(point)),
    waiting: queue?.waiting ?? 0,
    oldestMs: queue?.oldestMs ?? null,
  };
}

const rounded = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms * 100) / 100;
