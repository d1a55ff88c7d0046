import type { DatabaseCheck } from '../database-input.ts';

export const collationVersion: DatabaseCheck = {
  name: 'collation-version',
  condition: 'text is sorted in the order with which the indexes were built',
  severity: 'error',
  why: 'The collation library has changed, for example in an operating system upgrade. Indexes then miss rows, and unique keys can be stored twice.',
  fix: '`reindex database <database>; alter database <database> refresh collation version;`',
  async find({ sql }) {
    const databases = await sql<{ name: string; recorded: string; actual: string }[]>`
      select datname as name, datcollversion as recorded, pg_database_collation_actual_version(oid) as actual
        from pg_database
       where datname = current_database() and datcollversion <> pg_database_collation_actual_version(oid)`;
    const collations = await sql<{ name: string; recorded: string; actual: string }[]>`
      select c.collname as name, c.collversion as recorded, pg_collation_actual_version(c.oid) as actual
        from pg_collation c
       where c.collversion <> pg_collation_actual_version(c.oid)
         and exists (select from pg_index i where c.oid = any(i.indcollation::oid[])) order by 1`;
    return [
      ...databases.map(({ name, recorded, actual }) => ({
        what: `Indexes of the database ${name} were built with version ${recorded} of its collation; the system has ${actual}.`,
        fix: `\`reindex database "${name}"; alter database "${name}" refresh collation version;\``,
      })),
      ...collations.map(({ name, recorded, actual }) => ({
        what: `Indexes were built with version ${recorded} of the collation "${name}"; the system has ${actual}.`,
        fix: `Reindex the tables that use it, then \`alter collation "${name}" refresh version;\``,
      })),
    ];
  },
};
