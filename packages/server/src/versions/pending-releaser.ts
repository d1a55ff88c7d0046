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
 * The job that queues runs which waited for a version with their task, or for a specific deployment. Promotions and deployments queue such
 * runs themselves; the job finds runs that began to wait at that very moment.
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
    for (const { env, id } of await awaited(sql)) {
      const [row] = await sql<{ count: number }[]>`
        select promote_external_id(${env}, ${id}, ${new Date(clock.now())}, ${maxAtOnce}) as count`;
      if (row && row.count > 0) wake(env);
    }
    return false;
  },
});

/** The existing deployments that runs wait for. For each, the query reads one index entry of the waiting runs. */
const awaited = (sql: Sql) => sql<{ env: number; id: string }[]>`
  with recursive waiting as (
    (select p.external_id, p.env from pending_version p where p.external_id is not null order by p.external_id, p.env limit 1)
    union all
    select n.* from waiting w cross join lateral (
      select p.external_id, p.env from pending_version p
       where p.external_id is not null and (p.external_id, p.env) > (w.external_id, w.env) order by p.external_id, p.env limit 1) n
  )
  select x.env, x.id from waiting w join external_ids x on x.env = w.env and x.id = w.external_id`;
