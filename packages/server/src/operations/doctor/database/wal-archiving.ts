import { readableDuration, readableSize } from '@millrace/contract/plain';
import type { DatabaseCheck, DatabaseInput } from '../database-input.ts';

export const walArchiving: DatabaseCheck = {
  name: 'wal-archiving',
  condition: 'PostgreSQL archives the WAL for backups, and is at most 1 GiB or 15 minutes behind',
  severity: 'error',
  why: 'The last backup cannot be restored up to the present, and unarchived WAL accumulates until the disk is full.',
  fix: "PostgreSQL's log contains the error of `archive_command`. Fix the command or its target.",
  async find(input) {
    const [failing] = await input.sql<{ count: number; ms: number }[]>`
      select failed_count::int as count,
             extract(epoch from clock_timestamp() - coalesce(last_archived_time, last_failed_time))::float8 * 1000 as ms
        from pg_stat_archiver
       where current_setting('archive_mode') <> 'off'
         and last_failed_time > coalesce(last_archived_time, '-infinity')`;
    if (!failing) return findLag(input);
    return [
      {
        what: `Archiving failed ${failing.count} times, and has not succeeded for ${readableDuration(failing.ms)}.`,
      },
    ];
  },
};

/** A command that hangs, or is too slow, does not fail. A standby archives nothing by default and is not checked. */
async function findLag({ sql, limits }: DatabaseInput): Promise<{ what: string; fix: string }[]> {
  const [late] = await sql<{ bytes: number; ms: number }[]>`
    with archived as (
      select last_archived_time as at, setting::bigint as size,
             -- The name of a segment has three numbers: the timeline, and the two parts of its position.
             ('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * 4294967296
               + (('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint + 1) * setting::bigint as until
        from pg_stat_archiver, pg_settings
       where name = 'wal_segment_size' and current_setting('archive_mode') <> 'off' and not pg_is_in_recovery()
         and last_archived_wal ~ '^[0-9A-F]{24}'
    ), waiting as (
      select size, (pg_current_wal_lsn() - '0/0'::pg_lsn) - until as bytes,
             extract(epoch from clock_timestamp() - at) * 1000 as ms
        from archived
    )
    select bytes::float8 as bytes, ms::float8 as ms from waiting
     -- The current segment is not complete, and the one before it may have been completed just now.
     where bytes > ${limits.unarchivedBytes}::numeric or (bytes > 2 * size and ms > ${limits.unarchivedMs}::numeric)`;
  if (!late) return [];
  return [
    {
      what: `${readableSize(late.bytes)} of WAL has not been archived. The last segment was archived ${readableDuration(late.ms)} ago.`,
      fix: 'Check whether `archive_command` hangs (`ps`), and the speed of its target. End a command that hangs: PostgreSQL runs it again.',
    },
  ];
}
