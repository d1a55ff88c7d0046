import { readableSize } from '@millrace/contract/plain';
import { needPrimary, type DatabaseCheck } from '../database-input.ts';

export const replicationSlots: DatabaseCheck = {
  name: 'replication-slots',
  condition: 'no unused replication slot retains more than 1 GiB',
  severity: 'error',
  why: 'PostgreSQL retains all WAL for an unused slot, until the disk is full and the database stops.',
  fix: "`select pg_drop_replication_slot('<slot>');` if its standby no longer exists. Otherwise start the standby.",
  async find(input) {
    needPrimary(input);
    const { sql, limits } = input;
    const rows = await sql<{ name: string; status: string | null; bytes: number | null }[]>`
      select slot_name as name, wal_status as status, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 as bytes
        from pg_replication_slots
       where wal_status = 'lost'
          or (not active and pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > ${limits.slotBytes}::numeric)
       order by 1`;
    return rows.map(({ name, status, bytes }) => ({
      what:
        status === 'lost'
          ? `The WAL that the replication slot ${name} requires was deleted: its standby can no longer follow.`
          : `No client reads the replication slot ${name}, which retains ${readableSize(bytes ?? 0)} of WAL.`,
      fix: `\`select pg_drop_replication_slot('${name}');\` if its standby is gone; otherwise ${status === 'lost' ? 'create the standby again' : 'start the standby'}.`,
    }));
  },
};
