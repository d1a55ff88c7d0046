import { connect, type Database } from '../../packages/server/src/db/connect.ts';

/** Finds a text in a database: in every column of every table, as text and inside bytes. */
export async function tablesWith(database: Database, text: string): Promise<string[]> {
  const sql = connect(database, { name: 'scan', max: 1 });
  try {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') order by 1`;
    const found: string[] = [];
    const hex = Buffer.from(text).toString('hex');
    for (const { name } of tables) {
      const [row] = await sql.unsafe<{ count: string }[]>(
        `select count(*) as count from ${name} t where t::text like '%${text}%' or t::text like '%${hex}%'`,
      );
      if (row?.count !== '0') found.push(name);
    }
    return found;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
