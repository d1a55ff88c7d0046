import type { Sql } from '../../packages/server/src/db/connect.ts';

const segments = 60;

/** The settings of a database whose write-ahead log is recycled: room for one gigabyte of segments. */
export const recycledWal = { min_wal_size: '1GB', max_wal_size: '4GB' } as const;

/**
 * Leaves one gigabyte of segments to recycle, as a database has after its first hours. A new database writes and flushes 16 MB of zeros for
 * each new segment, and all commits wait for that.
 */
export async function recycleWal(sql: Sql): Promise<void> {
  for (let n = 0; n < segments; n++) {
    await sql`select pg_logical_emit_message(true, 'bench', '')`;
    await sql`select pg_switch_wal()`;
  }
  await sql`checkpoint`;
}
