import type { Job } from '../../jobs/job.ts';
import { databaseNow } from '../../db/clock.ts';
import { rescueRunner, type RescueDependencies } from './rescue.ts';

/** The job that reclaims the runs of runners whose lease has expired, and leases of missing runners. */
export const rescuer = (dependencies: RescueDependencies): Job => ({
  name: 'rescuer',
  everyMs: 1_000,
  async tick() {
    const { sql, log } = dependencies.engine;
    const lost = await sql<{ id: string }[]>`
      select r.id from runners r, (select ${databaseNow(dependencies.engine)} as at) n
       where r.expires_at <= n.at and is_lease_over(r.heartbeat_at, r.expires_at, n.at)
      union
      select distinct l.runner_id from leases l where not exists (select from runners r where r.id = l.runner_id)
      union
      select distinct s.runner_id from suspended s
       where s.runner_id is not null and not exists (select from runners r where r.id = s.runner_id)`;
    for (const { id } of lost) {
      // A runner whose runs cannot be reclaimed must not delay the others.
      await rescueRunner(dependencies, id).catch((error: unknown) => {
        log.warn('job.failed', { job: 'rescuer', runner: id, error: String(error) });
      });
    }
    return false;
  },
});
