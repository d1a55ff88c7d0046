import { readableDuration } from '@millrace/contract/plain';
import { needServer, type DatabaseCheck } from '../facts.ts';

export const runnersGone: DatabaseCheck = {
  name: 'runners-gone',
  looksAt: 'the runs of runners that are gone are queued again',
  severity: 'error',
  why: 'The runs of a lost runner stay in execution. Servers take them back when its lease has ended: they hang, or the job fails.',
  mend: 'Look for `job.failed` with `"job":"rescuer"` in the log of the servers, then restart them.',
  async find(facts) {
    needServer(facts);
    const rows = await facts.sql<{ id: string; host: string; ms: number }[]>`
      select r.id, r.host, extract(epoch from now() - x.at)::float8 * 1000 as ms
        from runners r, lease_watch w
       -- after an outage of the database, leases expire later
       cross join lateral (select greatest(r.expires_at, w.resumed_at + w.lease) as at) x
       where x.at < now() - make_interval(secs => ${facts.limits.lateMs / 1_000}) order by x.at limit 10`;
    return rows.map(({ id, host, ms }) => ({
      what: `The lease of the runner ${id} on ${host} ended ${readableDuration(ms)} ago.`,
    }));
  },
};
