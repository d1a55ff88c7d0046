import type { Queryable } from '../../db/connect.ts';
import { viewsSchema } from '../../db/sql-views.ts';

/** A table, with the SQL names of its schema, itself and its columns. */
export interface Table {
  readonly name: string;
  /** Stored columns, without computed ones. */
  readonly columns: readonly string[];
  /** Size on disk, without indexes. */
  readonly bytes: number;
  /** From the last statistics; below 1 if there are none. */
  readonly rowsEstimate: number;
}

export interface Index {
  readonly name: string;
  readonly definition: string;
}

/** The relations created by users of a database, by names with their schema. Those of extensions are omitted. */
export interface Relations {
  readonly tables: readonly Table[];
  readonly sequences: readonly string[];
  /** Indexes other than those of primary keys and constraints. */
  readonly indexes: readonly Index[];
  /** Views and other relations. Those of Millrace are omitted, because they are installed and not copied. */
  readonly others: readonly string[];
}

export async function readRelations(sql: Queryable): Promise<Relations> {
  const rows = await sql<
    {
      kind: string;
      name: string;
      columns: string[];
      bytes: number;
      rows: number;
      definition: string | null;
    }[]
  >`
    select c.relkind as kind, format('%I.%I', n.nspname, c.relname) as name,
      array(select quote_ident(a.attname) from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
      case when c.relkind = 'r' then pg_table_size(c.oid) else 0 end::float8 as bytes, c.reltuples::float8 as rows,
      case when c.relkind = 'i' then pg_get_indexdef(c.oid) end as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not in ('pg_catalog', 'information_schema', ${viewsSchema}) and n.nspname !~ '^pg_(?:toast|temp)' and c.relkind not in ('t', 'c')
      and not exists (select from pg_depend d
                       where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      and not exists (select from pg_constraint k where k.conindid = c.oid and k.contype in ('p', 'u', 'x'))
    order by name`;
  const of = (kinds: string) => rows.filter(({ kind }) => kinds.includes(kind));
  return {
    tables: of('r').map(({ name, columns, bytes, rows: rowsEstimate }) => ({
      name,
      columns,
      bytes,
      rowsEstimate,
    })),
    sequences: of('S').map(({ name }) => name),
    indexes: of('i').map(({ name, definition }) => ({ name, definition: definition ?? '' })),
    others: rows.filter(({ kind }) => !'rSi'.includes(kind)).map(({ name }) => name),
  };
}

/** Relations of the first database that the second one does not have. */
export function missingFrom(target: Relations, source: Relations): string[] {
  const tables = new Map(target.tables.map(({ name, columns }) => [name, columns]));
  return [
    ...source.tables.flatMap(({ name, columns }) => {
      const known = tables.get(name);
      if (known === undefined) return [name];
      return columns.filter((column) => !known.includes(column)).map((column) => `${name}.${column}`);
    }),
    ...source.sequences.filter((name) => !target.sequences.includes(name)),
    ...source.others.filter((name) => !target.others.includes(name)),
  ];
}
