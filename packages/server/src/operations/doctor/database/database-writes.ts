import { Skipped, type Found } from '../check.ts';
import type { DatabaseCheck } from '../database-input.ts';

/** The wait for a synchronous standby. */
const standby = 'IPC/SyncRep';

export const databaseWrites: DatabaseCheck = {
  name: 'database-writes',
  condition:
    'the database accepts writes. A transaction creates a table, writes 1 MB to it, and drops it. It must be committed within half of `--timeout`',
  severity: 'error',
  why: 'No run can be triggered, claimed or completed. When the database accepts writes again, the servers continue without a restart.',
  fix: "If its disk is full, free some space, and never delete files in `pg_wal`. If it is read-only, use the address of the primary. If it waits for a standby, start the standby. Otherwise PostgreSQL's log contains the cause.",
  async find({ failedWrite }) {
    if (failedWrite === undefined) return [];
    if (failedWrite === 'no permission') throw new Skipped('the role may not create tables');
    const { code, reason } = failedWrite;
    return [code === undefined ? late(reason) : rejected(code, reason)];
  },
};

function late(event: string): Found {
  if (event !== standby) return { what: `A test write did not end: PostgreSQL waits for \`${event}\`.` };
  return {
    what: `A test write was not committed: PostgreSQL waits for a synchronous standby (\`${standby}\`).`,
    fix: '`select application_name, state, sync_state from pg_stat_replication;` lists the connected standbys. Start the missing one. In a Patroni cluster, never change `synchronous_standby_names`.',
  };
}

function rejected(code: string, message: string): Found {
  if (code === '53100')
    return {
      what: `The disk of the database is full: ${message}.`,
      fix: 'Free some space on the disk of PostgreSQL, or enlarge it. Never delete files in `pg_wal`: it may be large because of `replication-slots` or `wal-archiving`. `millrace storage` shows the size of the tables.',
    };
  if (code === '25006')
    return {
      what: 'The database is read-only, like a standby.',
      fix: 'Set `DATABASE_URL` to the address of the primary, or list all hosts. On the primary, `default_transaction_read_only` must be off.',
    };
  return { what: `PostgreSQL rejected a test write: ${message}.` };
}
