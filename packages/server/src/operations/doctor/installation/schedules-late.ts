import { readableDuration } from '@millrace/contract/plain';
import { needServer, type DatabaseCheck } from '../database-input.ts';

const max = 1_000;

export const schedulesLate: DatabaseCheck = {
  name: 'schedules-late',
  condition: 'no schedule is more than a minute overdue',
  severity: 'error',
  why: 'Servers are connected to the database but do not fire schedules: they hang, or their scheduler fails.',
  fix: 'Look for `job.failed` with `"job":"scheduler"` in the log of the servers, then restart them.',
  async find(input) {
    needServer(input);
    const [row] = await input.sql<{ count: number; id: string | null; ms: number }[]>`
      select count(*)::int as count, (array_agg(id))[1] as id,
             max(extract(epoch from now() - next_at))::float8 * 1000 as ms
        from (select id, next_at from schedules
               where next_at < now() - make_interval(secs => ${input.limits.lateMs / 1_000})
               order by next_at limit ${max}) s`;
    if (!row?.id) return [];
    const count = row.count === max ? `${max} or more` : row.count;
    return [
      { what: `${count} schedules are overdue; the oldest (${row.id}) by ${readableDuration(row.ms)}.` },
    ];
  },
};
