import type { DatabaseCheck } from '../database-input.ts';

const minMs = 30_000;

export const statementTimeout: DatabaseCheck = {
  name: 'statement-timeout',
  condition: 'the role has no timeout below 30 seconds',
  severity: 'warning',
  why: 'PostgreSQL terminates Millrace statements or sessions that are merely slow. Migrations and deletions fail and start over repeatedly.',
  fix: '`alter role <role> set <setting> = 0;`, or in the database `alter database <database> set <setting> = 0;`. Then restart the servers.',
  async find({ sql }) {
    const rows = await sql<{ name: string; ms: number }[]>`
      select name, reset_val::float8 as ms from pg_settings
       where name in ('statement_timeout', 'transaction_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
                      'idle_session_timeout')
         and reset_val::float8 > 0 and reset_val::float8 < ${minMs} order by name`;
    return rows.map(({ name, ms }) => ({ what: `\`${name}\` is ${ms} ms for sessions of this role.` }));
  },
};
