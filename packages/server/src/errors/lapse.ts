import type { Queryable } from '../db/connect.ts';

const mostAtOnce = 500;

/**
 * Writes down that ignores have ended by their time, with an audit entry of that time. Everybody reads them as ended already:
 * nothing depends on when, or whether, this runs. Returns whether there may be more.
 */
export async function endLapsedIgnores(sql: Queryable, now: Date): Promise<boolean> {
  const ended = await sql`
    with due as materialized (
      select env, id, ignored_until from error_groups
       where status <> 'unresolved' and status = 'ignored' and ignored_until <= ${now}
       order by env, id limit ${mostAtOnce} for update skip locked
    )
    select reopen_error(env, id, ignored_until, 'ignoreEnded') from due`;
  return ended.length >= mostAtOnce;
}
