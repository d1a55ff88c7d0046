import { readableDuration } from '@millrace/contract/plain';
import { type DatabaseCheck } from '../database-input.ts';

export const longTransactions: DatabaseCheck = {
  name: 'long-transactions',
  condition: 'no transaction is idle for 5 minutes, and none is older than an hour',
  severity: 'warning',
  why: 'Rows deleted since the transaction began cannot be removed. Tables grow, and claims become slower. Its locks can block a migration.',
  fix: '`select pg_terminate_backend(<pid>);`, or fix the program that holds the transaction open. To prevent it, set `idle_in_transaction_session_timeout` for its role.',
  async find({ sql, limits }) {
    const sessions = await sql<{ pid: number; role: string; name: string; idle: boolean; ms: number }[]>`
      select pid, coalesce(usename, '?') as role, application_name as name, state like 'idle in transaction%' as idle,
             extract(epoch from clock_timestamp() - xact_start)::float8 * 1000 as ms
        from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
         and (xact_start < clock_timestamp() - make_interval(secs => ${limits.longTransactionMs / 1_000})
           or (state like 'idle in transaction%'
               and state_change < clock_timestamp() - make_interval(secs => ${limits.idleTransactionMs / 1_000})))
       order by xact_start limit 10`;
    const prepared = await sql<{ id: string; ms: number }[]>`
      select gid as id, extract(epoch from clock_timestamp() - prepared)::float8 * 1000 as ms from pg_prepared_xacts
       where database = current_database()
         and prepared < clock_timestamp() - make_interval(secs => ${limits.idleTransactionMs / 1_000})
       order by prepared limit 10`;
    return [
      ...sessions.map(({ pid, role, name, idle, ms }) => ({
        what: `Process ${pid} (role ${role}${name === '' ? '' : `, ${name}`}) has a transaction open for ${readableDuration(ms)}${idle ? ', and is idle' : ''}.`,
        fix: `\`select pg_terminate_backend(${pid});\`, or fix the program that holds it open.`,
      })),
      ...prepared.map(({ id, ms }) => ({
        what: `The transaction ${JSON.stringify(id)} has been prepared for ${readableDuration(ms)}, and neither committed nor rolled back.`,
        fix: `\`rollback prepared '${id.replaceAll("'", "''")}';\``,
      })),
    ];
  },
};
