/** Finds or creates the user for an identity of the provider and gives them the role of their groups. */
import type { MasterKey } from '../../auth/seal.ts';
import { oidcIdentityContext, seal } from '../../auth/seal.ts';
import { recordAct, type Provided } from '../../audit/record.ts';
import type { Queryable } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import { addMissingDevEnvironments, restoreDevEnvironments } from '../environments.ts';
import type { ProviderUser } from './provider.ts';
import type { OidcRole } from './settings.ts';

interface Joining {
  readonly organization: string;
  readonly user: ProviderUser;
  readonly role: OidcRole;
}

/** Runs in the transaction that opens the session. Returns the id of the user. */
export async function joinByProvider(
  tx: Queryable,
  masterKey: MasterKey,
  { organization, user, role }: Joining,
  by: Provided,
): Promise<string> {
  // Serializes concurrent first logins of one user, and changes to members.
  await tx`select from organizations where id = ${organization} for update`;
  const [known] = await tx<{ id: string; userId: string }[]>`
    select id, user_id as "userId" from oidc_identities
     where issuer = ${user.issuer} and subject = ${user.subject} for update`;
  const id = known?.id ?? newId('oidc');
  const userId = known?.userId ?? (await insertUser(tx, user));
  const sealed = seal(masterKey, user.refreshToken, oidcIdentityContext(id));
  // A process that queries with the earlier refresh token detects that its result no longer applies.
  await tx`
    insert into oidc_identities (id, issuer, subject, user_id, organization_id, sealed_refresh_token)
    values (${id}, ${user.issuer}, ${user.subject}, ${userId}, ${organization}, ${sealed})
    on conflict (id) do update set organization_id = excluded.organization_id, confirmed_at = now(),
      sealed_refresh_token = excluded.sealed_refresh_token, claimed_by = null, claimed_until = null`;
  await setRole(tx, masterKey, { organization, userId, role }, by);
  return userId;
}

async function setRole(
  tx: Queryable,
  masterKey: MasterKey,
  member: { readonly organization: string; readonly userId: string; readonly role: OidcRole },
  by: Provided,
): Promise<void> {
  const { organization, userId, role } = member;
  const { count } = await tx`
    insert into memberships (organization_id, user_id, role) values (${organization}, ${userId}, ${role})
    on conflict do nothing`;
  if (count === 0) {
    await updateRole(tx, member, by);
    return;
  }
  await restoreDevEnvironments(tx, organization, userId);
  await addMissingDevEnvironments(tx, masterKey, organization);
  await recordAct(tx, by, { act: 'member.added', target: userId, in: { organization }, new: { role } });
}

/** Gives a member the role of their groups. Owners remain owners. Returns true if the role changed. */
export async function updateRole(
  tx: Queryable,
  {
    organization,
    userId,
    role,
  }: { readonly organization: string; readonly userId: string; readonly role: OidcRole },
  by: Provided,
): Promise<boolean> {
  const [member] = await tx<{ role: string }[]>`
    select role from memberships where organization_id = ${organization} and user_id = ${userId} for update`;
  if (!member || member.role === 'owner' || member.role === role) return false;
  await tx`update memberships set role = ${role} where organization_id = ${organization} and user_id = ${userId}`;
  await recordAct(tx, by, {
    act: 'member.updated',
    target: userId,
    in: { organization },
    old: { role: member.role },
    new: { role },
  });
  return true;
}

/** The address is only displayed. It is never matched against existing users and is omitted if one of them has it. */
async function insertUser(tx: Queryable, { name, email }: ProviderUser): Promise<string> {
  const id = newId('user');
  await tx`
    insert into users (id, name, email)
    select ${id}, ${name}, case when not exists (select from users where lower(email) = lower(${email ?? null}::text)) then ${email ?? null}::text end`;
  return id;
}
