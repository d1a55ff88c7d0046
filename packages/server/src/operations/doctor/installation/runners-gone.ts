import { readableDuration } from '@millrace/contract/plain';
import { needServer, type DatabaseCheck } from '../database-input.ts';

export const runnersGone: DatabaseCheck = {
  name: 'runners-gone',
  condition: 'the runs of lost runners are queued again',
  severity: 'error',
  why: 'Runs of a lost runner still count as executing. Servers should requeue them when its lease has expired: they hang, or the job fails.',
  fix: 'Look for `job.failed` with `"job":"rescuer"` in the log of the servers, then restart them.',
  async find(input) {
    needServer(input);
    const rows = await input.sql<{ id: string; host: string; ms: number }[]>`
      select r.id, r.host, extract(epoch from now() - x.at)::float8 * 1000 as ms
        from runners r cross join lateral (select lease_end(r.heartbeat_at, r.expires_at) as at) x
       where x.at < now() - make_interval(secs => ${input.limits.lateMs / 1_000}) order by x.at limit 10`;
    return rows.map(({ id, host, ms }) => ({
      what: `The lease of the runner ${id} on ${host} ended ${readableDuration(ms)} ago.`,
    }));
  },
};
