/** Checks with the identity provider whether users may still log in, at most once every 30 s for each user across all credentials. */
import { LRUCache } from 'lru-cache';
import { graceMinutes, type ConfirmUser } from '../../auth/confirm.ts';
import { oidcIdentityContext, seal, unseal, type MasterKey } from '../../auth/seal.ts';
import type { Sql } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import type { Log } from '../../logger.ts';
import { maxEntries } from '../../max-entries.ts';
import { unauthorized } from '../../problem.ts';
import { endByProvider, type Identity } from './end.ts';
import { failureOf, type OidcFailure } from './failure.ts';
import { roleOf } from './groups.ts';
import { updateRole } from './join.ts';
import type { Provider } from './provider.ts';

/** Once the last result is this old, the provider is queried while the request continues. */
export const freshMs = 30_000;
/** Once it is this old, the request waits for the result. */
const maxAgeMs = 45_000;
/** Longer than two calls to the provider may take, because the user info may be requested as well. */
const claimSeconds = 15;
/** While the provider is unreachable, it is queried at this interval. */
const awayMs = 5_000;
const pollMs = 200;
const noConnection = new Set(['fetch_failed', 'OAUTH_TIMEOUT', 'OAUTH_ABORT']);

/** `unknown`: the provider was not reachable. */
export type Outcome = 'confirmed' | 'ended' | 'unknown';

export interface ConfirmDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly masterKey: MasterKey;
  /** Undefined if none is configured, in which case users who logged in through one are not confirmed. */
  readonly provider: Provider | undefined;
  /** Notifies every process that a credential or a role has ended. */
  readonly accessEnded: () => void;
}

interface Claimed extends Identity {
  readonly sealed: Buffer;
}

export interface Confirmer {
  readonly confirm: ConfirmUser;
  /** Queries the provider now, unless another process is doing so or has just done so. */
  ask(userId: string): Promise<Outcome>;
}

export function createConfirmer(dependencies: ConfirmDependencies): Confirmer {
  const { sql, log, masterKey, provider, accessEnded } = dependencies;
  const asking = new Map<string, Promise<Outcome>>();
  /**
   * When the provider may be queried again about a user, or about any user (empty key). Entries are kept for the same time again.
   */
  const away = new LRUCache<string, number>({ ...maxEntries(10_000), ttl: 2 * awayMs });
  const awayUntil = (userId: string): number => Math.max(away.get('') ?? 0, away.get(userId) ?? 0);

  const ask = (userId: string): Promise<Outcome> => {
    const inProgress = asking.get(userId);
    if (inProgress) return inProgress;
    const outcome = confirmOnce(userId).finally(() => asking.delete(userId));
    asking.set(userId, outcome);
    return outcome;
  };

  const confirm: ConfirmUser = (userId, confirmedMsAgo) => {
    if (confirmedMsAgo < freshMs) return undefined;
    const inGrace = confirmedMsAgo < graceMinutes * 60_000;
    const outcome = ask(userId);
    // A provider that was unreachable a moment ago does not delay every request.
    if (confirmedMsAgo < maxAgeMs || (inGrace && awayUntil(userId) > 0)) {
      outcome.catch(() => {});
      return undefined;
    }
    return outcome.then((is) => {
      if (is === 'ended') throw unauthorized('Your identity provider has ended your access. Log in again.');
      if (is === 'unknown' && !inGrace)
        throw unauthorized(
          'Your identity provider cannot confirm your access at the moment. Try again later.',
        );
    });
  };

  async function confirmOnce(userId: string): Promise<Outcome> {
    if (!provider || performance.now() < awayUntil(userId)) return 'unknown';
    const until = performance.now() + claimSeconds * 1_000;
    const claim = newId('ask');
    while (performance.now() < until) {
      const claimed = await claimIdentity(sql, userId, claim);
      if (claimed) return askAbout(provider, claimed, claim);
      const [row] = await sql<{ isFresh: boolean; isEnded: boolean }[]>`
        select confirmed_at > now() - make_interval(secs => ${freshMs / 1_000}) as "isFresh", sealed_refresh_token is null as "isEnded"
          from oidc_identities where user_id = ${userId}`;
      if (!row || row.isEnded) return 'ended';
      if (row.isFresh) return 'confirmed';
      // Another process is querying the provider.
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return 'unknown';
  }

  async function askAbout(oidc: Provider, identity: Claimed, claim: string): Promise<Outcome> {
    const { id, issuer, subject, userId, organization, sealed } = identity;
    const by = { issuer, origin: { requestId: claim, address: 'server', userAgent: undefined } };
    const answer = await Promise.resolve()
      .then(() => oidc.refresh(unseal(masterKey, sealed, oidcIdentityContext(id)), { issuer, subject }))
      .catch((error: unknown): OidcFailure => failureOf(error));
    const role = 'groups' in answer ? roleOf(answer.groups, oidc.settings) : undefined;
    if ('reason' in answer && answer.reason !== 'refused') {
      // A failure that only concerns one user does not stop queries about others.
      away.set(noConnection.has(answer.code) ? '' : userId, performance.now() + awayMs);
      log.warn('oidc.away', { reason: answer.reason, code: answer.code });
      await sql`update oidc_identities set claimed_by = null, claimed_until = null where id = ${id} and claimed_by = ${claim}`;
      return 'unknown';
    }
    const became = await sql.begin(async (tx): Promise<'ended' | 'changed' | 'same'> => {
      // Uses the lock order of a login.
      await tx`select from organizations where id = ${organization} for update`;
      const [current] =
        await tx`select from oidc_identities where id = ${id} and claimed_by = ${claim} for update`;
      // The user has logged in again in the meantime, so the result belongs to an earlier login.
      if (!current) return 'same';
      if (role === undefined || !('groups' in answer)) {
        await endByProvider(tx, identity, 'reason' in answer ? 'refused' : 'no group', by);
        return 'ended';
      }
      await tx`
        update oidc_identities set confirmed_at = now(), claimed_by = null, claimed_until = null,
          sealed_refresh_token = ${seal(masterKey, answer.refreshToken, oidcIdentityContext(id))}
         where id = ${id}`;
      return (await updateRole(tx, { organization, userId, role }, by)) ? 'changed' : 'same';
    });
    if (became !== 'same') accessEnded();
    if (became !== 'ended') return 'confirmed';
    log.info('oidc.ended', { userId, code: 'reason' in answer ? answer.code : 'no_group' });
    return 'ended';
  }

  return { confirm, ask };
}

/** Lets only one process at a time query the provider, because it ends the login if a refresh token is used twice. */
async function claimIdentity(sql: Sql, userId: string, claim: string): Promise<Claimed | undefined> {
  const [row] = await sql<Claimed[]>`
    update oidc_identities set claimed_by = ${claim}, claimed_until = now() + make_interval(secs => ${claimSeconds})
     where user_id = ${userId} and sealed_refresh_token is not null and (claimed_until is null or claimed_until < now())
       and confirmed_at <= now() - make_interval(secs => ${freshMs / 1_000})
    returning id, issuer, subject, user_id as "userId", organization_id as organization, sealed_refresh_token as sealed`;
  return row;
}
