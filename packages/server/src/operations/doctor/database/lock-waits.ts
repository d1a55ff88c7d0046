import { readableDuration } from '@millrace/contract/plain';
import { type DatabaseCheck } from '../database-input.ts';

export const lockWaits: DatabaseCheck = {
  name: 'lock-waits',
  condition: 'no session has waited for a lock for half a minute',
  severity: 'warning',
  why: 'The waiting session makes no progress, and others queue behind it.',
  fix: 'End the session that holds the lock: `select pg_terminate_backend(<pid>);`',
  async find({ sql, limits }) {
    const rows = await sql<{ pid: number; blockers: number[]; ms: number }[]>`
      select pid, pg_blocking_pids(pid) as blockers, extract(epoch from clock_timestamp() - query_start)::float8 * 1000 as ms
        from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()
         and query_start < clock_timestamp() - make_interval(secs => ${limits.lockWaitMs / 1_000})
       order by query_start limit 5`;
    return rows.map(({ pid, blockers: [first], ms }) => ({
      what: `Process ${pid} has waited ${readableDuration(ms)} for a lock${first === undefined ? '' : ` held by process ${first}`}.`,
      ...(first !== undefined && { fix: `\`select pg_terminate_backend(${first});\`` }),
    }));
  },
};
