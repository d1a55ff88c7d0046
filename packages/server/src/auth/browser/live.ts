import type { Queryable } from '../../db/connect.ts';

/** A session ends this many hours after its last use. */
export const idleHours = 12;
/** A session ends after at most this many days. */
export const maxSessionDays = 30;

/** Condition: the browser session `t` is live. It ends with the token that it was opened with. */
export const liveSession = (sql: Queryable) => sql`
  t.revoked_at is null and t.expires_at > now() and t.last_used_at > now() - make_interval(hours => ${idleHours})
  and (t.token_id is null or exists (
    select from personal_access_tokens k
     where k.id = t.token_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))`;
