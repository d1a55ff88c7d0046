import type { Sql } from '../../db/connect.ts';

const maxAtOnce = 500;

/**
 * Ends expired ignores, with an audit entry at their expiry time. Readers already treat them as ended, so the time of this call does not
 * matter. Takes the error lock, because changes of groups also end ignores. Returns whether there may be more.
 */
export async function endLapsedIgnores(sql: Sql, now: Date): Promise<boolean> {
  const due = await sql<{ env: number }[]>`
    select distinct env from error_groups where status <> 'unresolved' and status = 'ignored' and ignored_until <= ${now}`;
  let more = false;
  for (const { env } of due) {
    await sql.begin(async (tx) => {
      await tx`select lock_errors(${env})`;
      const ended = await tx`
        with due as materialized (
          select env, id, ignored_until from error_groups
           where env = ${env} and status <> 'unresolved' and status = 'ignored' and ignored_until <= ${now}
           order by id limit ${maxAtOnce} for update skip locked
        )
        select reopen_error(env, id, ignored_until, 'ignoreEnded') from due`;
      more ||= ended.length >= maxAtOnce;
    });
  }
  return more;
}
