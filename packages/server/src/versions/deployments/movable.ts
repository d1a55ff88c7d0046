import type { Operations, Reply } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';

type Moved = Reply<Operations['moveDeployment']>;
export type MovableStatus = Moved['waiting'][number]['status'];

export interface MoveFilter {
  readonly task?: readonly string[] | undefined;
  readonly status?: readonly MovableStatus[] | undefined;
}

export type Movable = Pick<Moved, 'waiting' | 'missingTasks' | 'staying'>;

/**
 * The runs waiting on a version that could be moved to another one, and those that could not. Reads all waiting runs of the environment.
 */
export async function readMovable(
  sql: Queryable,
  env: number,
  from: number,
  to: number,
  { task, status }: MoveFilter,
): Promise<Movable> {
  const [live] = await sql<{ staying: number }[]>`
    select ((select count(*) from leases l where l.env = ${env} and l.version_id = ${from})
          + (select count(*) from suspended s
              where s.env = ${env} and s.version_id = ${from} and num_nulls(s.runner_id) = 0))::int as staying`;
  const rows = await sql<(Moved['waiting'][number] & { isThere: boolean })[]>`
    select g.task, g.status, g.count, exists (select from tasks t where t.version_id = ${to} and t.id = g.task) as "isThere"
      from (
        select r.task, w.status, count(*)::int as count
          from (
            select 'QUEUED' as status, q.run_id from lanes n
             cross join lateral (select x.run_id from queued x where x.lane_id = n.id offset 0) q
             where n.env = ${env}::int and n.pinned_version + 0 = ${from}::int
            union all
            select case when d.retry then 'RETRYING' else 'DELAYED' end, d.run_id from delayed d where d.env = ${env}::int
            union all
            select 'PENDING_VERSION', p.run_id from pending_version p where p.env + 0 = ${env}::int
            union all
            select 'WAITING', s.run_id from suspended s where s.env = ${env}::int and num_nulls(s.runner_id) = 1
          ) w
         cross join lateral (
           select x.task from runs x where x.env = ${env}::int and x.id = w.run_id and x.version_id = ${from}::int limit 1) r
         group by 1, 2
      ) g
     where (${task ?? null}::text[] is null or g.task = any (${task ?? null}::text[]))
       and (${status ?? null}::text[] is null or g.status = any (${status ?? null}::text[]))
     order by 1, 2`;
  return {
    waiting: rows.map((row) => ({ task: row.task, status: row.status, count: row.count })),
    missingTasks: [...new Set(rows.filter(({ isThere }) => !isThere).map((row) => row.task))],
    staying: live?.staying ?? 0,
  };
}
