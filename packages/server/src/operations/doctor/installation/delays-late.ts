import { readableDuration } from '@millrace/contract/plain';
import { needServer, type DatabaseCheck } from '../database-input.ts';

const max = 1_000;

export const delaysLate: DatabaseCheck = {
  name: 'delays-late',
  condition: 'no delayed run or retry is more than a minute overdue',
  severity: 'error',
  why: 'Servers are connected to the database but do not queue runs that are due: they hang, or the job fails.',
  fix: 'Look for `job.failed` with `"job":"promoter"` in the log of the servers, then restart them.',
  async find(input) {
    needServer(input);
    const [row] = await input.sql<{ count: number; ms: number | null }[]>`
      select count(*)::int as count, max(extract(epoch from now() - due))::float8 * 1000 as ms
        from (select due from delayed where due < now() - make_interval(secs => ${input.limits.lateMs / 1_000})
               order by due limit ${max}) d`;
    if (!row || row.ms === null) return [];
    const count = row.count === max ? `${max} or more` : row.count;
    return [{ what: `${count} delayed runs are overdue, the oldest by ${readableDuration(row.ms)}.` }];
  },
};
