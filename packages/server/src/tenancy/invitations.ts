/** Invitations: a one-time token that makes its holder a member. No mail is sent; the inviter passes the token on. */
import type { Invitation, Organization, Role } from '@millrace/contract';
import { userBehind } from '../auth/principal.ts';
import { credentialDigest, newInvitationToken } from '../auth/keys.ts';
import type { MasterKey } from '../auth/seal.ts';
import { recordAct, type Actor, type Invited } from '../audit/record.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { notFound, unprocessable } from '../problem.ts';
import type { Origin } from '../request.ts';
import { addMissingDevEnvironments } from './environments.ts';
import { refuseOwnership, retrieveOrganization } from './organizations.ts';
import { insertToken } from './tokens.ts';

interface InvitationRow {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const invitationOf = ({ id, email, role, created_at, expires_at }: InvitationRow): Invitation => ({
  id,
  email,
  role,
  createdAt: created_at.toISOString(),
  expiresAt: expires_at.toISOString(),
});

export async function listInvitations(sql: Sql, organization: string): Promise<Invitation[]> {
  const rows = await sql<InvitationRow[]>`
    select id, email, role, created_at, expires_at from invitations
     where organization_id = ${organization} and ended_at is null and expires_at > now() order by created_at, id`;
  return rows.map(invitationOf);
}

export async function createInvitation(
  sql: Sql,
  organization: string,
  request: { readonly email: string; readonly role: Role },
  by: Actor & { readonly role: Role | undefined },
): Promise<Invitation & { token: string }> {
  refuseOwnership(by.role, request.role);
  const token = newInvitationToken();
  const invitedBy = userBehind(by.principal);
  return sql.begin(async (tx) => {
    const [row] = await tx<InvitationRow[]>`
      insert into invitations (id, organization_id, email, role, digest, invited_by, expires_at)
      values (${newId('invite')}, ${organization}, ${request.email}, ${request.role}, ${credentialDigest(token)}, ${invitedBy},
        now() + interval '7 days')
      returning id, email, role, created_at, expires_at`;
    if (!row) throw new TypeError('insert returned nothing');
    await recordAct(tx, by, {
      act: 'invitation.created',
      target: row.id,
      in: { organization },
      new: { email: row.email, role: row.role },
    });
    return { ...invitationOf(row), token };
  });
}

export async function revokeInvitation(
  sql: Sql,
  organization: string,
  id: string,
  by: Actor,
): Promise<Invitation> {
  return sql.begin(async (tx) => {
    const [row] = await tx<InvitationRow[]>`
      update invitations set ended_at = now()
       where id = ${id} and organization_id = ${organization} and ended_at is null
      returning id, email, role, created_at, expires_at`;
    if (!row) throw notFound('Invitation not found');
    await recordAct(tx, by, {
      act: 'invitation.revoked',
      target: id,
      in: { organization },
      old: { email: row.email, role: row.role },
    });
    return invitationOf(row);
  });
}

interface Used {
  readonly id: string;
  readonly organization: string;
  readonly email: string;
  readonly role: Role;
}

/** Ends the invitation. Only one of two concurrent uses succeeds. */
async function useInvitation(sql: Queryable, token: string): Promise<Used> {
  const [row] = await sql<Used[]>`
    update invitations set ended_at = now()
     where digest = ${credentialDigest(token)} and ended_at is null and expires_at > now()
    returning id, organization_id as organization, email, role`;
  if (!row) throw notFound('Invitation not found. It may have been used or revoked, or may have expired.');
  return row;
}

async function join(
  sql: Queryable,
  masterKey: MasterKey,
  used: Used,
  userId: string,
  by: Actor | Invited,
): Promise<Organization> {
  const { count } = await sql`
    insert into memberships (organization_id, user_id, role) values (${used.organization}, ${userId}, ${used.role})
    on conflict do nothing`;
  if (count === 0) throw unprocessable('You already belong to this organization');
  await addMissingDevEnvironments(sql, masterKey, used.organization);
  await recordAct(sql, by, {
    act: 'member.added',
    target: userId,
    in: { organization: used.organization },
    new: { role: used.role, invitation: used.id },
  });
  return retrieveOrganization(sql, userId, used.organization);
}

/** An existing user accepts an invitation. */
export async function acceptInvitation(
  sql: Sql,
  masterKey: MasterKey,
  userId: string,
  token: string,
  by: Actor,
): Promise<Organization> {
  return sql.begin(async (tx) => join(tx, masterKey, await useInvitation(tx, token), userId, by));
}

/**
 * The holder of the token joins as a new user. The mail address is unverified, so it never identifies an existing user: existing users
 * accept with their own credential.
 */
export async function joinByInvitation(
  sql: Sql,
  masterKey: MasterKey,
  request: { readonly token: string; readonly name: string },
  origin: Origin,
): Promise<{ userId: string; organization: Organization; personalAccessToken: string }> {
  return sql.begin(async (tx) => {
    const used = await useInvitation(tx, request.token);
    const userId = newId('user');
    // If another user has the address, the new user is created without one.
    const { count } = await tx`
      insert into users (id, name, email) values (${userId}, ${request.name}, ${used.email})
      on conflict (email) do nothing`;
    if (count === 0) await tx`insert into users (id, name) values (${userId}, ${request.name})`;
    const organization = await join(tx, masterKey, used, userId, { invitation: used.id, origin });
    const { text } = await insertToken(tx, userId, 'invitation', null);
    return { userId, organization, personalAccessToken: text };
  });
}
