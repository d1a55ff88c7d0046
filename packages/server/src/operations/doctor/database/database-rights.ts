import type { DatabaseCheck } from '../database-input.ts';

export const databaseRights: DatabaseCheck = {
  name: 'database-rights',
  condition: 'the role may create tables, and owns the tables of Millrace',
  severity: 'error',
  why: 'A server that has to migrate the database does not start.',
  fix: 'As the owner of the database: `grant usage, create on schema public to <role>;` or `alter database <database> owner to <role>;`',
  async find({ sql }) {
    const [row] = await sql<
      { role: string; schema: string | null; may: boolean | null; foreign: string | null }[]
    >`
      select current_user::text as role, current_schema()::text as schema,
             has_schema_privilege(current_schema(), 'create') as may,
             (select c.relname from pg_class c
               where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not pg_has_role(c.relowner, 'usage')
                 and exists (select from pg_class m where m.relnamespace = c.relnamespace and m.relname = 'installed_functions')
               order by 1 limit 1) as foreign`;
    if (!row) return [];
    if (row.schema === null) {
      const fix = `\`create schema public; grant usage, create on schema public to "${row.role}";\``;
      return [{ what: `The role ${row.role} has no usable schema in its search path.`, fix }];
    }
    if (row.may === false) {
      const fix = `As its owner: \`grant usage, create on schema "${row.schema}" to "${row.role}";\``;
      return [{ what: `The role ${row.role} may not create tables in the schema ${row.schema}.`, fix }];
    }
    if (row.foreign === null) return [];
    const fix = `As the owner of the tables: \`reassign owned by <owner> to "${row.role}";\``;
    return [{ what: `The table ${row.foreign} is not owned by the role ${row.role}.`, fix }];
  },
};
