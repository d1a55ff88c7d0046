import type { OutboxItem } from '@millrace/contract';
import { readFile } from 'node:fs/promises';
import { column } from '../db/columns.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import { sqlFolder } from '../db/sql-folder.ts';

/** At most this many rows are delivered together. */
export const maxOutboxItems = 500;
/** Maximum bytes of payloads and options, which must fit into a request. */
const maxBytes = 3_000_000;

/** The SQL that installs an outbox of an environment, by its public id. */
export async function outboxSql(environment: string): Promise<string> {
  if (!/^[\w-]+$/.test(environment)) throw new TypeError(`${environment} is not the id of an environment`);
  return (await readFile(new URL('outbox.sql', sqlFolder), 'utf8')).replace('{environment}', environment);
}

/**
 * Acquires the right to deliver until the end of the transaction, because only a single deliverer preserves the order. False if another
 * process has it.
 */
export async function lockOutbox(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`select pg_try_advisory_xact_lock(7144, 2) as locked`;
  return row?.locked ?? false;
}

/** The public id of the environment that an outbox belongs to. */
export async function environmentOfOutbox(sql: Queryable): Promise<string | undefined> {
  const [row] = await sql<{ environment: string }[]>`select environment from millrace.outbox_settings`;
  return row?.environment;
}

/** The next rows, in order. */
export async function nextRows(tx: Transaction): Promise<OutboxItem[]> {
  const rows = await tx<
    {
      id: string;
      task: string;
      payload: string | null;
      options: OutboxItem['options'];
      created_at: Date;
    }[]
  >`
    select id, task, payload::text as payload, options, created_at from (
      select o.*, sum(bytes) over (order by seq) - bytes as before from (
        select * from millrace.outbox where failed_at is null order by seq limit ${maxOutboxItems}) o) o
     where before + bytes <= ${maxBytes} or before = 0 order by seq`;
  return rows.map(({ id, task, payload, options, created_at }) => ({
    id,
    task,
    ...(payload !== null && { payload: JSON.parse(payload) as unknown }),
    options,
    createdAt: created_at.toISOString(),
  }));
}

/** Deletes delivered rows and marks rows that cannot be delivered. */
export async function finishRows(
  tx: Transaction,
  results: readonly { readonly id: string; readonly error?: string }[],
): Promise<void> {
  const failed = results.filter(({ error }) => error !== undefined);
  const delivered = results.filter(({ error }) => error === undefined).map(({ id }) => id);
  if (delivered.length > 0) await tx`delete from millrace.outbox where id = any(${delivered}::text[])`;
  if (failed.length > 0) {
    await tx`
      update millrace.outbox o set failed_at = now(), error = i.error
        from unnest(${column(failed, ({ id }) => id)}::text[], ${column(failed, ({ error }) => error)}::text[]) as i (id, error)
       where o.id = i.id`;
  }
}
