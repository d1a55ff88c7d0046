/** Users of an identity provider are confirmed by it again and again, as long as they have a session or a token. */
import type { Queryable, Sql } from '../db/connect.ts';

/**
 * Called with how long ago the provider confirmed a user, in milliseconds. Resolves when the user may go on, at once if that was a moment
 * ago; rejects with a 401 Problem if not.
 */
export type ConfirmUser = (userId: string, confirmedMsAgo: number) => void | Promise<void>;

/** How long sessions and tokens go on while the provider cannot be asked. */
export const graceMinutes = 60;

/** How long ago the user of `t` was confirmed; null if no provider has to. */
export const confirmedMsAgo = (sql: Queryable) => sql`
  (select (extract(epoch from now() - i.confirmed_at) * 1000)::float8 from oidc_identities i where i.user_id = t.user_id)`;

/** Condition: the provider of the user of `t`, if they have one, has confirmed them within the time of grace. */
export const confirmedLately = (sql: Queryable) => sql`
  not exists (select from oidc_identities i
               where i.user_id = t.user_id and i.confirmed_at < now() - make_interval(mins => ${graceMinutes}))`;

/** The same for a user whose row is not at hand. */
export async function confirmActor(sql: Sql, confirm: ConfirmUser, userId: string): Promise<void> {
  const [row] = await sql<{ ago: number }[]>`
    select ${confirmedMsAgo(sql)} as ago from (values (${userId}::text)) t (user_id)`;
  if (row?.ago != null) await confirm(userId, row.ago);
}
