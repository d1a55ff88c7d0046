import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { Job } from '../../jobs/job.ts';
import { tiers } from './range.ts';

const maxAtOnce = 5_000;
/** Rows are retained for longer than promised, for readers with slow clocks. */
const graceMs = 3_600_000;

/** The job that deletes expired roll-ups. */
export const statsPruner = ({
  sql,
  clock,
}: {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
}): Job => ({
  name: 'stats pruner',
  everyMs: 60_000,
  async tick() {
    let isMore = false;
    for (const { widthMinutes, retentionMs } of tiers) {
      const { count } = await sql`
        delete from run_stats where ctid = any(array(
          select s.ctid from environments e
           cross join lateral (
             select x.ctid from run_stats x
              where x.env = e.id and x.width = ${widthMinutes} and x.at < ${new Date(clock.now() - retentionMs - graceMs)}
              order by x.at limit ${maxAtOnce}) s
           limit ${maxAtOnce}))`;
      isMore ||= count >= maxAtOnce;
    }
    return isMore;
  },
});
