import type { Fragment, Transaction } from '../../db/connect.ts';

/** Rows of one kind that one transaction deletes. */
const maxRows = 5_000;

/**
 * Deletes the log lines, spans and stream records of runs, of which one run may have millions. Returns whether some are left for another
 * transaction. Streams precede all other locks.
 */
export async function eraseParts(tx: Transaction, env: number, ids: readonly string[]): Promise<boolean> {
  const streams = tx`
    select c.id from channels c
     where c.env = ${env} and split_part(c.name, '/', 2) = any(${ids}::text[]) and c.session_id is null`;
  const segments = await tx`
    delete from channel_segments where ctid = any(array(
      select s.ctid from channel_segments s where s.channel = any(array(${streams})) limit ${maxRows}))`;
  const parts = await tx`
    delete from channel_parts where ctid = any(array(
      select p.ctid from channel_parts p where p.channel = any(array(${streams})) limit ${maxRows}))`;
  if (segments.count >= maxRows || parts.count >= maxRows) return true;
  await tx`
    delete from channels where id = any(array(
      select c.id from channels c
       where c.env = ${env} and split_part(c.name, '/', 2) = any(${ids}::text[]) and c.session_id is null
       order by c.id for update))`;
  const lines = await deleteOf(tx, tx`run_logs`, env, ids);
  const spans = await deleteOf(tx, tx`run_spans`, env, ids);
  return lines || spans;
}

async function deleteOf(
  tx: Transaction,
  table: Fragment,
  env: number,
  ids: readonly string[],
): Promise<boolean> {
  const { count } = await tx`
    delete from ${table} where ctid = any(array(
      select x.ctid from ${table} x where x.env = ${env} and x.run_id = any(${ids}::text[]) limit ${maxRows}))`;
  return count >= maxRows;
}
