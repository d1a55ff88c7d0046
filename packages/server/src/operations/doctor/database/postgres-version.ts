import { oldestMajor } from '../../../db/migrate.ts';
import type { DatabaseCheck } from '../database-input.ts';

export const postgresVersion: DatabaseCheck = {
  name: 'postgres-version',
  condition: `PostgreSQL is ${oldestMajor} or later`,
  severity: 'error',
  why: 'Millrace does not start with an older version.',
  fix: 'Upgrade PostgreSQL with `pg_upgrade`, or move the database to a newer server with `pg_dump` and `pg_restore`.',
  find: async ({ postgres: { version, number } }) =>
    number < oldestMajor * 10_000 ? [{ what: `PostgreSQL is ${version}.` }] : [],
};
