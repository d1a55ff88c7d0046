import type { Queryable } from '../db/connect.ts';

/** The remaining work of an environment. */
export interface OpenWork {
  /** Attempts that have a lease. Suspended ones have none. */
  readonly executing: number;
  /** Suspended attempts whose wait has ended. */
  readonly resuming: number;
  /** Runs in queues, including those held back by a limit or a pause. */
  readonly queued: number;
  /** Changes with every claim. */
  readonly lastFence: number;
  /** When the next timed work is due, in milliseconds since 1970, and the background job responsible for it. */
  readonly next: { readonly at: number; readonly job: string } | null;
}

/**
 * Reads the remaining work of an environment, for tests that move the time. Each line of `due` is the work that one background job waits for.
 * The modules of those jobs own the tables; the tests of `@millrace/testing` fail if a line is missing.
 */
export async function readOpenWork(sql: Queryable, environment: string): Promise<OpenWork> {
  const [row] = await sql<(Omit<OpenWork, 'next'> & { at: number | null; job: string })[]>`
    with env as materialized (select id from environments where public_id = ${environment}),
    due as (
      select d.due, 'promoter' as job from delayed d join env e on e.id = d.env where d.due < 'infinity'
      union all select w.due, 'promoter' from waits w join env e on e.id = w.env where w.over_at is null and w.due is not null
      union all select t.expires_at, 'promoter' from waitpoints t join env e on e.id = t.env
                 where t.status = 'WAITING' and t.expires_at is not null
      union all select s.due, 'promoter' from queue_starts s join env e on e.id = s.env where s.due is not null
      union all select q.expires_at, 'expirer' from queued q join env e on e.id = q.env where q.expires_at is not null
      union all select p.expires_at, 'expirer' from pending_version p join env e on e.id = p.env where p.expires_at is not null
      union all select s.next_at, 'scheduler' from schedules s join env e on e.id = s.env where s.next_at is not null
      union all select v.due, 'deliverer' from pending_events v join env e on e.id = v.env
    ), next as (select * from due order by due, job limit 1)
    select (select count(*) from leases l join env e on e.id = l.env)::int as executing,
           (select count(*) from suspended s join env e on e.id = s.env where s.ready_at is not null)::int as resuming,
           (select count(*) from queued q join env e on e.id = q.env)::int as queued,
           (select last_value from lease_fences)::float8 as "lastFence",
           (select ceil(extract(epoch from due) * 1000)::float8 from next) as at,
           (select job from next) as job`;
  if (!row) throw new TypeError('a select without a table returned nothing');
  const { at, job, ...counts } = row;
  return { ...counts, next: at === null ? null : { at, job } };
}
