import { readableSize } from '@millrace/contract/plain';
import { needPrimary, type DatabaseCheck } from '../database-input.ts';

export const replicationLag: DatabaseCheck = {
  name: 'replication-lag',
  condition: 'no standby is more than 1 GiB behind',
  severity: 'warning',
  why: 'If the standby has to take over, the missing changes are lost.',
  fix: 'Check the load, disk and network of the standby, and queries that delay its replay.',
  async find(input) {
    needPrimary(input);
    const { sql, limits } = input;
    const rows = await sql<{ name: string; bytes: number }[]>`
      select coalesce(nullif(application_name, ''), pid::text) as name, bytes::float8 as bytes
        from pg_stat_replication
       cross join lateral (
         select pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, flush_lsn, write_lsn, sent_lsn)) as bytes) b
       where state <> 'backup' and bytes > ${limits.replicationBytes}::numeric order by 2 desc`;
    return rows.map(({ name, bytes }) => ({ what: `The standby ${name} is ${readableSize(bytes)} behind.` }));
  },
};
