import { readableDuration } from '@millrace/contract/plain';
import { type DatabaseCheck } from '../facts.ts';

export const walArchiving: DatabaseCheck = {
  name: 'wal-archiving',
  looksAt: 'PostgreSQL can archive what backups need',
  severity: 'error',
  why: 'The last backup cannot be restored to the present, and what is not archived stays on the disk until it is full.',
  mend: 'The log of PostgreSQL has the error of `archive_command`. Mend the command, or its target.',
  async find({ sql }) {
    const [row] = await sql<{ count: number; ms: number }[]>`
      select failed_count::int as count,
             extract(epoch from clock_timestamp() - coalesce(last_archived_time, last_failed_time))::float8 * 1000 as ms
        from pg_stat_archiver
       where current_setting('archive_mode') <> 'off'
         and last_failed_time > coalesce(last_archived_time, '-infinity')`;
    return row
      ? [
          {
            what: `Archiving failed ${row.count} times, and has not succeeded for ${readableDuration(row.ms)}.`,
          },
        ]
      : [];
  },
};
