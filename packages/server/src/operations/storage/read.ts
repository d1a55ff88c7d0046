import type { StorageClass, StorageUse } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { classOf } from './classes.ts';

interface TableRow {
  readonly name: string;
  readonly bytes: string;
  readonly rows: string;
}

/** The disk space of each class of data, including indexes, largest first. Reads only file sizes. */
export async function readStorage(sql: Sql): Promise<StorageUse> {
  const tables = await sql<TableRow[]>`
    select c.relname as name, pg_total_relation_size(c.oid)::text as bytes, greatest(0, c.reltuples)::bigint::text as rows
      from pg_class c where c.relkind = 'r' and c.relnamespace = (select x.relnamespace from pg_class x where x.oid = 'runs'::regclass)`;
  const classes = new Map<
    StorageClass,
    { bytes: number; rows: number; tables: { name: string; bytes: number }[] }
  >();
  for (const { name, bytes, rows } of tables) {
    const kind = classOf(name);
    const usage = classes.get(kind) ?? { bytes: 0, rows: 0, tables: [] };
    classes.set(kind, usage);
    usage.bytes += Number(bytes);
    usage.rows += Number(rows);
    usage.tables.push({ name, bytes: Number(bytes) });
  }
  const data = [...classes]
    .map(([kind, usage]) => ({
      class: kind,
      bytes: usage.bytes,
      rowsEstimate: usage.rows,
      tables: usage.tables.toSorted((a, b) => b.bytes - a.bytes),
    }))
    .toSorted((a, b) => b.bytes - a.bytes);
  return { data, totalBytes: data.reduce((all, { bytes }) => all + bytes, 0) };
}
