import { asProblem, Problem } from '../../problem.ts';
import type { Origin } from '../../request.ts';
import { recordForUser } from '../tokens.ts';
import { OidcFailure } from './failure.ts';
import type { OidcLoginDependencies } from './log-in.ts';
import { clockToleranceSeconds } from './settings.ts';

/**
 * Called when the provider reports that a user has logged out. Ends the browser sessions that they opened with it. Personal access tokens
 * remain valid, because a logout does not end the membership.
 */
export async function logOutByProvider(
  { sql, log, provider, accessEnded, mayLogIn }: OidcLoginDependencies,
  logoutToken: string,
  origin: Origin,
): Promise<void> {
  if (!mayLogIn(origin.address))
    throw new Problem('rate_limited', 'Too many requests came from this address');
  const { issuer, subject, at } = await provider.loggedOut(logoutToken).catch((error: unknown) => {
    if (!(error instanceof OidcFailure)) throw asProblem(error) ?? error;
    const { reason, code } = error;
    log.warn('oidc.refused', { address: origin.address, reason, code });
    throw new Problem(
      reason === 'unreachable' ? 'unavailable' : 'invalid_request',
      'The logout token is not valid',
    );
  });
  const ended = await sql.begin(async (tx) => {
    // Excludes sessions opened since then, because a token may be resent.
    const sessions = await tx<{ id: string; userId: string; expiresAt: Date }[]>`
      update browser_sessions t set revoked_at = now() from oidc_identities i
       where i.issuer = ${issuer} and i.subject = ${subject} and t.user_id = i.user_id
         and t.method = 'oidc' and t.revoked_at is null
         and t.created_at <= ${at}::timestamptz + make_interval(secs => ${clockToleranceSeconds})
      returning t.id, t.user_id as "userId", t.expires_at as "expiresAt"`;
    for (const { id: credentialId, userId, expiresAt } of sessions)
      await recordForUser(
        tx,
        userId,
        { principal: { kind: 'browser', credentialId, userId, expiresAt }, origin },
        { act: 'browserSession.revoked', target: credentialId },
      );
    return sessions.length;
  });
  if (ended > 0) accessEnded();
}
