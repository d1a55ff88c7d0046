import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import { deleteByEnvironment } from '../../db/delete-by-environment.ts';
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
      const before = new Date(clock.now() - retentionMs - graceMs);
      const deletion = {
        table: sql`run_stats`,
        condition: sql`x.width = ${widthMinutes} and x.at < ${before}`,
        orderBy: sql`x.at`,
        limit: maxAtOnce,
      };
      if (await deleteByEnvironment(sql, deletion)) isMore = true;
    }
    return isMore;
  },
});
