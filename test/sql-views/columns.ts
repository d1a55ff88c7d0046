import type { Sql } from '../../packages/server/src/db/connect.ts';

export interface ViewColumn {
  readonly view: string;
  readonly column: string;
  readonly type: string;
}

/** The columns of the installed views, by view, in their order. */
export const readColumns = (sql: Sql): Promise<ViewColumn[]> => sql<ViewColumn[]>`
  select c.relname::text as view, a.attname::text as column,
         replace(format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz') as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
   where c.relnamespace = 'millrace_v1'::regnamespace and c.relkind = 'v' order by c.relname, a.attnum`;
