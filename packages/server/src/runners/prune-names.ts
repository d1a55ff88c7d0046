import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Job } from '../jobs/job.ts';

/**
 * The job that deletes the names of runners that cannot have executed any stored run: those last seen more than a day before the oldest run
 * of their environment was created.
 */
export const runnerNamePruner = ({
  sql,
  clock,
}: {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
}): Job => ({
  name: 'runner name pruner',
  everyMs: 3_600_000,
  async tick() {
    const now = new Date(clock.now());
    await sql`
      update runner_names n set last_seen_at = ${now} from runners r where r.no = n.no and n.last_seen_at < ${now}`;
    await sql`
      delete from runner_names n
       using (select e.id, coalesce((select r.created_at from runs r where r.env = e.id order by r.id limit 1), ${now}) as oldest
                from environments e) o
       where n.env = o.id and n.last_seen_at < o.oldest - interval '1 day' and not exists (select from runners r where r.no = n.no)`;
    return false;
  },
});
