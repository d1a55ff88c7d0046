import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Table } from './relations.ts';

/**
 * Copies the rows of a table to the table of the same name, which was emptied in this transaction; returns their number. As text, because that
 * is the only row format that every PostgreSQL version reads from every older one.
 */
export async function copyTable(
  source: Client,
  target: Client,
  { name, columns }: Table,
  { signal, onRows }: { readonly signal: AbortSignal; readonly onRows: (count: number) => void },
): Promise<number> {
  const list = columns.join(', ');
  const reading = source.query(copyTo(`copy ${name} (${list}) to stdout`));
  // Frozen rows are read without checking their transaction and do not need vacuuming for a long time.
  const writing = target.query(copyFrom(`copy ${name} (${list}) from stdin with (freeze)`));
  const counting = new Transform({
    transform(chunk: Buffer, _, done) {
      onRows(lineEnds(chunk));
      done(null, chunk);
    },
  });
  await pipeline(reading, counting, writing, { signal });
  if (reading.rowCount !== writing.rowCount) {
    throw new Error(`${name} has ${reading.rowCount} rows, and ${writing.rowCount} arrived`);
  }
  return writing.rowCount;
}

/** Each row is a line, because line breaks within values are escaped. */
function lineEnds(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count += 1;
  return count;
}
