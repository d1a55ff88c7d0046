import type { Fragment, Queryable } from '../../db/connect.ts';

/**
 * How many unfinished runs of an environment are bound to each version, as a subquery with `version_id` and `count`. It reads all waiting
 * and executing runs of the environment, so use it only for lists and background jobs.
 */
export const liveRuns = (sql: Queryable, env: number): Fragment => sql`(
  select b.version_id, sum(b.count)::int as count from (
    select l.version_id, count(*) as count from leases l where l.env = ${env}::int group by 1
    union all
    select s.version_id, count(*) from suspended s where s.env = ${env}::int group by 1
    union all
    select n.pinned_version, count(*) from lanes n join queued w on w.lane_id = n.id
     where n.env = ${env}::int and n.pinned_version + 0 > 0 group by 1
    union all
    select r.version_id, count(*) from delayed d join runs r on r.env = d.env and r.id = d.run_id
     where d.env = ${env}::int and r.version_id is not null group by 1
    union all
    -- held until their batch is sealed
    select r.version_id, count(*) from batches b
      join runs r on r.env = b.env and r.id >= batch_prefix(b.id) and r.id < batch_prefix(b.id) || '~'
     where b.sealed_at is null and b.aborted_at is null and b.env = ${env}::int and r.version_id is not null and r.status is null
     group by 1
  ) b group by 1)`;
