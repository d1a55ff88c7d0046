import type { Sql } from '../../packages/server/src/db/connect.ts';

/** The tables with a row that contains the text in any column, also within binary data. */
export async function tablesWith(sql: Sql, text: string): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`;
  const hex = Buffer.from(text).toString('hex');
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.unsafe(
      `select from "${name}" x where strpos(x::text, '${text}') > 0 or strpos(x::text, '${hex}') > 0 limit 1`,
    );
    if (rows.length > 0) found.push(name);
  }
  return found;
}
