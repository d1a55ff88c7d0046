/** Ends the access of a user whom the identity provider rejects, or who no longer has any group with a role. */
import { recordAct, type Provided } from '../../audit/record.ts';
import type { Queryable } from '../../db/connect.ts';
import { archiveMemberEnvironments } from '../environments.ts';

export interface Identity {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  readonly organization: string;
}

/**
 * All sessions and personal access tokens of the user end, and they leave the organization. If the user is the only owner, they remain a
 * member without a way to log in, because an organization must have an owner. Keys that they created remain, as when a member is removed.
 */
export async function endByProvider(
  tx: Queryable,
  { id, userId, organization }: Identity,
  why: 'refused' | 'no group',
  by: Provided,
): Promise<void> {
  await tx`select from organizations where id = ${organization} for update`;
  await tx`
    update oidc_identities set sealed_refresh_token = null, claimed_by = null, claimed_until = null where id = ${id}`;
  // Sessions first: creating a token locks the requesting session. Tokens are locked before they are ended, because the approval of a login
  // locks the approving token until a new one exists.
  const sessions = await tx`
    update browser_sessions set revoked_at = now() where user_id = ${userId} and revoked_at is null`;
  await tx`
    select from personal_access_tokens where user_id = ${userId} and revoked_at is null order by id for update`;
  const tokens = await tx`
    update personal_access_tokens set revoked_at = now() where user_id = ${userId} and revoked_at is null`;
  const [left] = await tx<{ role: string; name: string }[]>`
    delete from memberships m using users u
     where m.organization_id = ${organization} and m.user_id = ${userId} and u.id = m.user_id
       and (m.role <> 'owner' or exists (select from memberships o
             where o.organization_id = m.organization_id and o.role = 'owner' and o.user_id <> m.user_id))
    returning m.role, u.name`;
  if (left) await archiveMemberEnvironments(tx, organization, userId);
  await recordAct(tx, by, {
    act: left ? 'member.removed' : 'member.loggedOut',
    target: userId,
    in: { organization },
    old: left && { role: left.role, name: left.name },
    new: { why, sessions: sessions.count, tokens: tokens.count },
  });
}
