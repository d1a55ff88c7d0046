import type { ArchivedPart } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';

/** A record of a run. `position` orders the records of its kind; the columns of the kind are in addition to these. */
export interface PartRow extends Readonly<Record<string, unknown>> {
  readonly run_id: string;
  readonly position: string;
}

/** Less than every position. */
export const firstKey = '0';

/** Records of one kind in a page. */
const maxRows = 2_000;
/** Characters of one kind in a page; its last record may exceed this. */
const maxCharacters = 2_097_152;

/** Columns, table, order and size of each kind of record. */
const sources = (
  sql: Queryable,
): Readonly<Record<ArchivedPart, Record<'columns' | 'from' | 'key' | 'size', Fragment>>> => ({
  attempts: {
    columns: sql`x.number, x.outcome, x.started_at, x.ended_at, x.active_ms::float8 as active_ms, x.error::text as error`,
    from: sql`attempts`,
    key: sql`x.fence`,
    size: sql`coalesce(length(x.error::text), 0)`,
  },
  steps: {
    columns: sql`x.name, x.kind, x.status, x.attempt, x.tries, x.started_at, x.ended_at, x.detail, x.output, x.output_type,
                 x.error::text as error`,
    from: sql`run_steps`,
    key: sql`x.seq`,
    size: sql`coalesce(length(x.output), 0) + coalesce(length(x.error::text), 0)`,
  },
  logs: {
    columns: sql`x.attempt, x.at, x.level, x.message, x.properties`,
    from: sql`run_logs`,
    key: sql`x.id`,
    size: sql`length(x.message) + coalesce(length(x.properties), 0)`,
  },
  spans: {
    columns: sql`x.attempt, x.at, x.trace_id, x.spans`,
    from: sql`run_spans`,
    key: sql`x.id`,
    size: sql`x.size`,
  },
});

/**
 * The records of one kind of some runs, in the order of the runs, up to a number and a size. If `isCut`, the last run may have more. Records
 * with the same key are never divided.
 */
export async function readParts(
  sql: Queryable,
  env: number,
  part: ArchivedPart,
  runs: readonly string[],
  after = firstKey,
): Promise<{ readonly rows: readonly PartRow[]; readonly isCut: boolean }> {
  const { columns, from, key, size } = sources(sql)[part];
  const rows = await sql<(PartRow & { found: number })[]>`
    select r.* from (
      select z.*, count(*) over ()::int as found,
             coalesce(sum(z.characters) over (order by z.ix, z.position range between unbounded preceding and current row exclude group), 0)
               as before
        from (
          select i.id as run_id, i.ix, y.*
            from unnest(${[...runs]}::text[]) with ordinality as i (id, ix)
            cross join lateral (
              select ${key} as position, ${size} as characters, ${columns} from ${from} x
               where x.env = ${env} and x.run_id = i.id and ${key} > ${after}::bigint
               order by ${key} fetch first (${maxRows}::int) rows with ties) y
           order by i.ix, y.position fetch first (${maxRows}::int) rows with ties) z) r
     where r.before < ${maxCharacters} order by r.ix, r.position`;
  const found = rows[0]?.found ?? 0;
  return { rows, isCut: found >= maxRows || rows.length < found };
}

/** Columns that select and order the rows. */
const internal: ReadonlySet<string> = new Set(['ix', 'position', 'characters', 'before', 'found']);

/** The record in the format of the archive. */
export const recordOf = <T>(row: Readonly<Record<string, unknown>>): T =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (internal.has(name) ? [] : [[name, plain(value)]])),
  ) as T;

/** Dates as in JSON. */
const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
