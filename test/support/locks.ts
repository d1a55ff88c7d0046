import type { Queryable } from '../../packages/server/src/db/connect.ts';

/**
 * A row for each session of this database that waits for a lock. Do not call it in a transaction, where `pg_stat_activity` does not change.
 *
 * @example
 * await expect.poll(() => lockWaiters(sql), { timeout: 20_000 }).toHaveLength(1);
 */
export const lockWaiters = (sql: Queryable) =>
  sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
