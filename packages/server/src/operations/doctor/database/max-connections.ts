import type { DatabaseCheck } from '../database-input.ts';

/** docs/poolers.md lists the components. */
const perServer = 16;

export const maxConnections: DatabaseCheck = {
  name: 'max-connections',
  condition: `PostgreSQL has free connections, and allows the ${perServer} that a server needs`,
  severity: 'error',
  why: `A server uses up to ${perServer} connections. Without free connections, triggers and runners wait or fail.`,
  fix: '`alter system set max_connections = 100;` and restart PostgreSQL; or raise the limit of the role (`alter role <role> connection limit -1`) or of the database.',
  async find({ sql }) {
    const [row] = await sql<{ max: number; limits: number[]; used: number }[]>`
      select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
               - coalesce(current_setting('reserved_connections', true)::int, 0) as max,
             array[(select rolconnlimit from pg_roles where rolname = current_user),
                   (select datconnlimit from pg_database where datname = current_database())] as limits,
             (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;
    if (!row) return [];
    const allowed = Math.min(row.max, ...row.limits.filter((limit) => limit >= 0));
    if (allowed < perServer)
      return [{ what: `Only ${allowed} connections are allowed; one server uses up to ${perServer}.` }];
    return row.used >= row.max * 0.9 ? [{ what: `${row.used} of ${row.max} connections are in use.` }] : [];
  },
};
