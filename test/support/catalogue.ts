import type { Sql } from '../../packages/server/src/db/connect.ts';

/** Definitions of everything in the schema of a database, by kind and name. Columns have no order. */
export type Catalogue = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The bookkeeping tables of `migrate`. */
const ownTables = `'migrations', 'installed_functions'`;

const queries: Readonly<Record<string, string>> = {
  tables: `
    select c.relname as name, jsonb_build_object('kind', c.relkind, 'persistence', c.relpersistence, 'options', (
             select jsonb_agg(o order by o) from unnest(c.reloptions) as o)) as is
      from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind not in ('i', 'I', 'S')`,
  columns: `
    select c.relname || '.' || a.attname as name, jsonb_build_object(
             'type', format_type(a.atttypid, a.atttypmod), 'required', a.attnotnull, 'identity', a.attidentity,
             'generated', a.attgenerated, 'storage', a.attstorage, 'compression', a.attcompression,
             'default', pg_get_expr(d.adbin, d.adrelid),
             'collation', (select l.collname from pg_collation l where l.oid = a.attcollation)) as is
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where c.relnamespace = current_schema()::regnamespace and c.relkind not in ('i', 'I', 'S')`,
  constraints: `
    select c.relname || '.' || o.conname as name, pg_get_constraintdef(o.oid) as is
      from pg_constraint o join pg_class c on c.oid = o.conrelid
     where o.connamespace = current_schema()::regnamespace and o.contype not in ('n', 't')`,
  indexes: `
    select c.relname as name, pg_get_indexdef(c.oid) as is
      from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'i'`,
  functions: `
    select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as is
      from pg_proc p
     where p.pronamespace = current_schema()::regnamespace
       and not exists (select from pg_depend d where d.objid = p.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e')`,
  triggers: `
    select c.relname || '.' || t.tgname as name, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text as is
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal`,
  sequences: `
    select c.relname as name, jsonb_build_object(
             'type', s.seqtypid::regtype::text, 'start', s.seqstart, 'increment', s.seqincrement, 'max', s.seqmax, 'min', s.seqmin,
             'cache', s.seqcache, 'cycle', s.seqcycle, 'owner', o.is) as is
      from pg_sequence s join pg_class c on c.oid = s.seqrelid
      left join lateral (
        select d.refobjid::regclass::text || '.' || a.attname as is from pg_depend d
          join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
         where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')) o on true
     where c.relnamespace = current_schema()::regnamespace`,
  extensions: `select extname as name, extname as is from pg_extension where extnamespace = current_schema()::regnamespace`,
};

export async function catalogueOf(sql: Sql): Promise<Catalogue> {
  const kinds = Object.entries(queries).map(async ([kind, query]) => {
    const rows = await sql.unsafe<{ name: string; is: unknown }[]>(
      `select * from (${query}) q where split_part(q.name, '.', 1) not in (${ownTables})
          and q.name !~ '^(migrations|installed_functions)_' order by q.name`,
    );
    return [kind, Object.fromEntries(rows.map(({ name, is }) => [name, is]))] as const;
  });
  return Object.fromEntries(await Promise.all(kinds));
}

/** The rows of a newly migrated database, without times. */
export async function rowsOf(sql: Sql, catalogue: Catalogue): Promise<Record<string, unknown>> {
  const tables = Object.entries(catalogue['tables'] ?? {}).filter(
    ([, is]) => (is as { kind: string }).kind === 'r',
  );
  const rows: Record<string, unknown> = {};
  for (const [table] of tables) {
    const found = await sql.unsafe<{ row: Record<string, unknown> }[]>(
      `select to_jsonb(t) as row from ${table} t`,
    );
    if (found.length > 0) {
      rows[table] = found.map(({ row }) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [
            column,
            /^\d{4}-\d\d-\d\dT/.test(String(value)) ? 'a time' : value,
          ]),
        ),
      );
    }
  }
  return rows;
}
