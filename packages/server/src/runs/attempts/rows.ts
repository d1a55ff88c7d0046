import type { AttemptStatus } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';

/** A stored attempt, from any of its tables. */
export interface AttemptRow {
  readonly run_id: string;
  /** The fence of its lease. The attempt that ended its run has a fence greater than all others. */
  readonly fence: string;
  readonly number: number;
  readonly status: AttemptStatus;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly active_ms: string;
  readonly due: Date | null;
  readonly env_revision: number | null;
  readonly error: { readonly name?: string; readonly message?: string; readonly stackTrace?: string } | null;
  readonly group: string | null;
  readonly version: string | null;
  readonly runner_id: string | null;
  readonly host: string | null;
  readonly pid: number | null;
}

export interface AttemptPage {
  /** The limit for each run. */
  readonly limit: number;
  /** The fence of the first attempt to return; default: the first attempt. */
  readonly from?: string | undefined;
  /** Whether to return the last attempts instead of the first. */
  readonly last?: boolean;
}

/**
 * Attempts of runs, in order. Attempts that did not end their run have a row in `attempts`, the live one is a lease or a suspension, and the
 * one that ended its run is stored in the run. One statement reads them all, so an attempt that ends in the meantime is neither missing nor
 * duplicated.
 */
export const readAttemptRows = (
  sql: Queryable,
  env: number,
  runs: readonly string[],
  at: Date,
  { limit, from = '0', last = false }: AttemptPage,
): Promise<AttemptRow[]> => {
  const order = last ? sql`desc` : sql`asc`;
  return sql<AttemptRow[]>`
    select i.run_id, x.fence, x.number, x.status, x.started_at, x.ended_at, x.active_ms, x.due, x.env_revision, x.error, v.version,
           n.runner_id, n.host, n.pid,
           (select g.id from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.group_id
             where f.id = x.error_fingerprint_id) as "group"
      from unnest(${[...runs]}::text[]) with ordinality as i (run_id, ix)
      cross join lateral (select r.* from runs r where r.env = ${env} and r.id = i.run_id limit 1) w
      cross join lateral (
        select y.* from (
          (select a.fence, a.number, a.outcome as status, a.started_at, a.ended_at, a.active_ms, a.runner_no, a.version_id, a.env_revision,
                  a.error, a.error_fingerprint_id, a.due
             from attempts a where a.env = ${env} and a.run_id = w.id and a.fence >= ${from}::bigint
            order by a.fence ${order} limit ${limit})
          union all
          (select l.fence, l.attempt, 'EXECUTING', coalesce(w.last_started_at, l.leased_at), null,
                  greatest(0, extract(epoch from ${at}::timestamptz - l.leased_at) * 1000)::bigint, l.runner_no, l.version_id, null, null, null,
                  null
             from leases l where w.status is null and l.env = ${env} and l.run_id = w.id limit 1)
          union all
          (select s.fence, s.attempt, 'WAITING', coalesce(w.last_started_at, s.since), null, s.active_ms, s.runner_no, s.version_id, null, null,
                  null, null
             from suspended s where w.status is null and s.env = ${env} and s.run_id = w.id and num_nulls(s.runner_id) = 0 limit 1)
          union all
          (select 9223372036854775807, w.attempt, w.status,
                  -- an attempt that never waited has run from its start to its end
                  coalesce(w.last_started_at, w.finished_at - make_interval(secs => c.ms / 1000.0)), w.finished_at, c.ms, w.last_runner_no,
                  w.version_id, w.env_revision, case when w.status not in ('COMPLETED', 'CANCELED') then short_error(w.error) end,
                  w.error_fingerprint_id, null
             from (
               select greatest(0, w.duration_ms - coalesce(sum(a.active_ms), 0))::bigint as ms
                 from attempts a where a.env = ${env} and a.run_id = w.id and a.outcome = 'FAILED') c
            where w.status is not null and w.last_runner_no is not null)
        ) y order by y.fence ${order} limit ${limit}
      ) x
      left join versions v on v.id = x.version_id
      left join runner_names n on n.no = x.runner_no
     order by i.ix, x.fence`;
};
