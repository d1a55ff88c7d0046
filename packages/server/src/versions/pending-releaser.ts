import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Job } from '../jobs/job.ts';

const maxAtOnce = 1_000;

export interface PendingReleaserDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  /** Runs of this environment were queued. */
  readonly wake: (env: number) => void;
}

/**
 * The job that queues runs which waited for a version with their task. A registration queues them itself; the job finds a run that
 * began to wait in the moment of a registration.
 */
export const pendingReleaser = ({ sql, clock, wake }: PendingReleaserDependencies): Job => ({
  name: 'pending version releaser',
  everyMs: 2_000,
  async tick() {
    const envs = await sql<{ env: number }[]>`
      select c.env from current_versions c where exists (select from pending_version p where p.env = c.env)`;
    for (const { env } of envs) {
      const [row] = await sql<{ count: number }[]>`
        select promote_pending_version(${env}, ${new Date(clock.now())}, ${maxAtOnce}) as count`;
      if (row && row.count > 0) wake(env);
    }
    return false;
  },
});
