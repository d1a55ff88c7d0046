import type { Sql } from '../../db/connect.ts';
import { freshMs, type Confirmer } from './confirm.ts';

const maxAtOnce = 20;
/** Sessions and tokens used within this time are considered in use. Their last use is recorded to within five minutes. */
const inUseMinutes = 10;
/** All others are checked at their next use anyway, so this only keeps the list of members accurate. */
const idleMinutes = 15;

export interface IdentityKeeperDependencies {
  readonly sql: Sql;
  readonly confirmer: Pick<Confirmer, 'ask'>;
  /** The ids of the credentials with open requests in this process, such as streams. */
  readonly watched: () => readonly string[];
}

/** The job that confirms users of the identity provider who have a live session or token, including while one of their streams stays open. */
export const identityKeeper = ({ sql, confirmer, watched }: IdentityKeeperDependencies) => ({
  name: 'identity keeper',
  everyMs: 10_000,
  async tick(): Promise<boolean> {
    const due = await sql<{ userId: string }[]>`
      select i.user_id as "userId" from oidc_identities i
       where i.sealed_refresh_token is not null and (i.claimed_until is null or i.claimed_until < now())
         and i.confirmed_at <= now() - make_interval(secs => ${freshMs / 1_000})
         and exists (
           select from (
             select s.id, s.last_used_at from browser_sessions s
              where s.user_id = i.user_id and s.revoked_at is null and s.expires_at > now()
             union all
             select k.id, k.last_used_at from personal_access_tokens k
              where k.user_id = i.user_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
           ) c
           where c.last_used_at > now() - make_interval(mins => ${inUseMinutes}) or c.id = any(${[...watched()]}::text[])
              or i.confirmed_at < now() - make_interval(mins => ${idleMinutes}))
       order by i.confirmed_at limit ${maxAtOnce}`;
    const outcomes = await Promise.all(due.map(({ userId }) => confirmer.ask(userId)));
    // While the provider is unreachable, the next tick is soon enough.
    return due.length === maxAtOnce && !outcomes.includes('unknown');
  },
});
