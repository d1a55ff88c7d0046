import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, Transaction } from './connect.ts';
import { codeOf } from './errors.ts';

/** Why the test write failed. */
export interface FailedWrite {
  /** The SQLSTATE; undefined if the write did not end in time. */
  readonly code: string | undefined;
  /** PostgreSQL's message, or the event that it waits for, such as `IPC/SyncRep`. */
  readonly reason: string;
}

/** At this fill factor, 22 rows fill a page: these are 1 MB. */
const rows = 22 * 128;

/**
 * Tests whether the database accepts writes. One transaction creates a table, fills 1 MB of it and drops it. PostgreSQL must create and extend
 * a file, write its WAL to disk, and wait for its synchronous standbys if it has any. The rows themselves are not in the WAL. Nothing remains,
 * even after a failure.
 *
 * Undefined if the write succeeded. Rejects if the database does not respond or the role may not create tables. `sql` needs a second
 * connection.
 */
export async function tryWriting(sql: Sql, timeoutMs: number): Promise<FailedWrite | undefined> {
  let transaction: { readonly pid: number; readonly since: string } | undefined;
  const written = sql
    .begin(async (tx) => {
      [transaction] = await tx<{ pid: number; since: string }[]>`
        select pg_backend_pid() as pid, now()::text as since`;
      await fillTable(tx, timeoutMs);
    })
    .then(
      () => undefined,
      (error: unknown) => {
        const code = codeOf(error);
        if (/^(25006|53[12]|58)/.test(code)) return { code, reason: (error as Error).message };
        throw error;
      },
    );
  const stop = new AbortController();
  const isLate = sleep(timeoutMs, true, { signal: stop.signal, ref: false }).catch(() => false);
  const result = await Promise.race([written, isLate]).finally(() => stop.abort());
  if (typeof result !== 'boolean') return result;
  // The transaction ends below.
  written.catch(() => {});
  if (!transaction) throw new Error('the database did not begin a transaction in time');
  // PostgreSQL has committed it already if it waits for a standby. Only such a test may end that wait: see decision 34.
  const [ended] = await sql<{ event: string }[]>`
    select concat_ws('/', wait_event_type, wait_event) as event, pg_terminate_backend(pid)
      from pg_stat_activity where pid = ${transaction.pid} and xact_start = ${transaction.since}::timestamptz`;
  // It ended in the meantime.
  return ended ? { code: undefined, reason: ended.event } : written;
}

async function fillTable(tx: Transaction, timeoutMs: number): Promise<void> {
  const table = `millrace_write_test_${randomBytes(8).toString('hex')}`;
  // Only for a process that does not live long enough to end it.
  await tx`select set_config('statement_timeout', ${String(2 * timeoutMs)}, true)`;
  await tx.unsafe(`create unlogged table ${table} (n int) with (fillfactor = 10)`);
  await tx.unsafe(`insert into ${table} select generate_series(1, ${rows})`);
  await tx.unsafe(`drop table ${table}`);
}
