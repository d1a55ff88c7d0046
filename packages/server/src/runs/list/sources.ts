import type { RunStatus } from '@millrace/contract';
import { isFinal } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { facet } from '../facets/facet.ts';
import { finalOf, type RunFilter } from './filter.ts';

/** Where runs that match one of the filters are found. Each is in a span of its facets or in its tables. */
export interface Source {
  /** Facets of `run_facets`: their spans of ids are scanned. */
  readonly facets: readonly string[];
  /** Small tables with one row per run, aliased as `q`, with `env` and `run_id`. */
  readonly tables: readonly Fragment[];
  /** Whether every matching run is in a span of these facets, so that other spans can be skipped. */
  readonly isComplete: boolean;
}

const spans = (facets: readonly string[]): Source => ({ facets, tables: [], isComplete: true });

/** One source for each filter that has one. Without any, all runs are scanned. */
export async function sourcesOf(sql: Queryable, filter: RunFilter): Promise<Source[]> {
  const {
    statuses,
    tasks,
    queues,
    versions,
    tags,
    machines,
    regions,
    isTest,
    schedule,
    batch,
    errors,
    paths = [],
    bulkAction,
  } = filter;
  const sources: Source[] = paths.map(spans);
  if (errors) sources.push(spans(errors.map((id) => facet('error', id))));
  if (bulkAction !== undefined) {
    const acted = sql`(
      select b.env, coalesce(b.replay_id, b.run_id) as run_id from bulk_runs b where b.bulk_id = ${bulkAction} and b.ok)`;
    sources.push({ facets: [], tables: [acted], isComplete: false });
  }
  if (schedule !== undefined) sources.push(spans([facet('schedule', schedule)]));
  if (batch !== undefined) {
    // One range of ids.
    const batchRuns = sql`(
      select r.env, r.id as run_id from runs r where r.id >= batch_prefix(${batch}) and r.id < batch_prefix(${batch}) || '~')`;
    sources.push({ facets: [], tables: [batchRuns], isComplete: false });
  }
  if (tags) sources.push(spans(tags.map((tag) => facet('tag', tag))));
  if (machines) sources.push(spans(machines.map((machine) => facet('machine', machine))));
  if (regions) sources.push(spans(regions.map((region) => facet('region', region))));
  if (isTest === true) sources.push(spans([facet('test', 'true')]));
  if (versions) {
    // While the first attempt is live, only the lease contains the version.
    const live = sql`(select l.env, l.run_id from leases l where l.version_id = any(${versions}::int[]))`;
    sources.push({ facets: versions.map((id) => facet('version', id)), tables: [live], isComplete: false });
  }
  if (statuses) sources.push(await byStatus(sql, filter, statuses));
  if (queues) sources.push(spans(queueFacets(queues)));
  if (tasks)
    sources.push(
      spans(tasks.flatMap((task) => [facet('own_queue_task', task), facet('other_queue_task', task)])),
    );
  return sources;
}

const queueFacets = (queues: NonNullable<RunFilter['queues']>): string[] =>
  queues.flatMap(({ id, name }) =>
    name.startsWith('task/')
      ? [facet('queue', id), facet('own_queue_task', name.slice(5))]
      : [facet('queue', id)],
  );

/** Maximum number of waiting runs that are read and sorted for a page. */
const fewQueued = 20_000;

async function byStatus(
  sql: Queryable,
  { envs, tasks }: RunFilter,
  statuses: readonly RunStatus[],
): Promise<Source> {
  const facets = finalOf(statuses).flatMap((status) =>
    tasks === undefined || status === 'COMPLETED'
      ? [facet('status', status)]
      : tasks.map((task) => facet('task_status', `${status}:${task}`)),
  );
  const live: Partial<Record<RunStatus, readonly Fragment[]>> = {
    // Written to match the index for lists (pending_version_by_run).
    PENDING_VERSION: [sql`(select p.env + 0 as env, p.run_id || '' as run_id from pending_version p)`],
    DELAYED: [sql`(select d.env, d.run_id from delayed d where not d.retry)`],
    WAITING: [sql`(select u.env, u.run_id from suspended u where u.ready_at is null)`],
    EXECUTING: [sql`leases`, sql`(select d.env, d.run_id from delayed d where d.retry)`],
  };
  const tables = statuses.flatMap((status) => live[status] ?? []);
  if (statuses.includes('QUEUED')) {
    tables.push(sql`(select u.env, u.run_id from suspended u where u.ready_at is not null)`);
    const unsealedRuns = sql`(
      select r.env, r.id as run_id from batches b
        join runs r on r.env = b.env and r.id >= batch_prefix(b.id) and r.id < batch_prefix(b.id) || '~'
       where b.sealed_at is null and b.aborted_at is null)`;
    tables.push(unsealedRuns);
    const queued = sql`(
      select q.env, w.run_id from queues q join lanes l on l.queue_id = q.id join queued w on w.lane_id = l.id)`;
    const [row] = await sql<{ few: boolean }[]>`
      select count(*) <= ${fewQueued} as few
        from (select from ${queued} q where q.env = any(${envs}::int[]) limit ${fewQueued + 1}) q`;
    // The queue is in claim order rather than list order. If it is long, the newest runs of its queues are waiting ones.
    if (row?.few === false) facets.push(...queueFacets(await busyQueues(sql, envs)));
    else tables.push(queued);
  }
  return { facets, tables, isComplete: statuses.every((status) => isFinal(status)) };
}

const busyQueues = (sql: Queryable, envs: readonly number[]) =>
  sql<{ id: number; name: string }[]>`
    select q.id, q.name from queues q
     where q.env = any(${envs}::int[])
       and exists (select from lanes l where l.queue_id = q.id
                      and exists (select from queued w where w.lane_id = l.id))`;
