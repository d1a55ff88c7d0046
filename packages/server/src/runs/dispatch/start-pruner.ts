import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';

const maxAtOnce = 1_000;

/**
 * The job that deletes starts that are no longer needed for any rate limit. It reads the table page by page, so that starts need no index
 * on time. It also rechecks lanes after the clock was set back; otherwise they would stay blocked until the clock reaches its old time.
 */
export function startPruner({ sql }: Pick<Engine, 'sql'>): Job {
  /** The last row of the previous page; the next tick reads the page after it. */
  let last = { queue: 0, key: '' };
  return {
    name: 'start pruner',
    everyMs: 5_000,
    async tick() {
      const rows = await sql<{ queue: number; key: string }[]>`
        with page as materialized (
          select s.ctid as tid, s.queue_id as queue, s.key, s.at[cardinality(s.at)] as latest, s.due, rate_now() as now
            from queue_starts s where (s.queue_id, s.key) > (${last.queue}, ${last.key})
           order by s.queue_id, s.key limit ${maxAtOnce} for update skip locked
        ), checked as materialized (
          select p.*, q.rate_window from page p
           cross join lateral (select x.rate_window from queues x where x.id = p.queue limit 1) q
        ), gone as (
          delete from queue_starts s using checked t
           where s.ctid = t.tid and t.due is null and (t.rate_window is null or t.latest <= t.now - t.rate_window)
        ), early as (
          update queue_starts s set due = t.now from checked t where s.ctid = t.tid and t.due > t.now + t.rate_window
        )
        select queue, key from page order by queue, key`;
      const more = rows.length >= maxAtOnce;
      const end = rows.at(-1);
      last = more && end ? end : { queue: 0, key: '' };
      return more;
    },
  };
}
