import { Skipped } from '../check.ts';
import type { DatabaseCheck } from '../database-input.ts';

export const migrations: DatabaseCheck = {
  name: 'migrations',
  condition: 'the tables and functions match this release',
  severity: 'error',
  why: 'This release does not start with tables of a newer release. If a function is missing, requests that need it fail.',
  fix: 'Use the release that migrated the database, or a later one. A server installs missing functions when it starts.',
  async find({ sql, release, applied }) {
    if (!applied) throw new Skipped('Millrace has no tables here yet: the first start creates them');
    const known = new Set(release.schema.map(({ name }) => name));
    const newer = applied.filter((name) => !known.has(name));
    const lost = await sql<{ name: string }[]>`
      select i.name from installed_functions i
       where not exists (select from pg_proc p
                          where p.pronamespace = current_schema()::regnamespace and p.proname = i.name) order by 1 limit 20`;
    return [
      ...(newer.length > 0
        ? [
            {
              what: `The database was migrated by a newer Millrace than ${release.version} (${newer.join(', ')}).`,
            },
          ]
        : []),
      ...(lost.length > 0
        ? [
            {
              what: `Functions are missing: ${lost.map(({ name }) => name).join(', ')}.`,
              fix: 'Restart a server: its start installs them.',
            },
          ]
        : []),
    ];
  },
};
