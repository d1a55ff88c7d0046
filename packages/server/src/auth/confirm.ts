/** Users of an identity provider are confirmed repeatedly, as long as they have a session or a token. */
import type { Queryable, Sql } from '../db/connect.ts';

/**
 * Called with the time since the provider last confirmed a user, in milliseconds. Resolves when the user may continue, immediately if the
 * confirmation is recent; otherwise rejects with a 401 Problem.
 */
export type ConfirmUser = (userId: string, confirmedMsAgo: number) => void | Promise<void>;

/** How long sessions and tokens remain valid while the provider is unreachable. */
export const graceMinutes = 60;

/** How long ago the user of `t` was confirmed; null if they have no provider. */
export const confirmedMsAgo = (sql: Queryable) => sql`
  (select (extract(epoch from now() - i.confirmed_at) * 1000)::float8 from oidc_identities i where i.user_id = t.user_id)`;

/** Condition: the provider of the user of `t`, if they have one, has confirmed them within the grace period. */
export const confirmedLately = (sql: Queryable) => sql`
  not exists (select from oidc_identities i
               where i.user_id = t.user_id and i.confirmed_at < now() - make_interval(mins => ${graceMinutes}))`;

/** Confirms a user whose row has not been read, if they have a provider. */
export async function confirmActor(sql: Sql, confirm: ConfirmUser, userId: string): Promise<void> {
  const [row] = await sql<{ ago: number }[]>`
    select ${confirmedMsAgo(sql)} as ago from (values (${userId}::text)) t (user_id)`;
  if (row?.ago != null) await confirm(userId, row.ago);
}
