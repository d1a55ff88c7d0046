/** Organizations and their members. */
import type { Member, Organization, Role } from '@millrace/contract';
import { userBehind } from '../auth/principal.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { forbidden, notFound, unprocessable } from '../problem.ts';
import { archiveMemberEnvironments } from './environments.ts';
import { refuseMoreOrganizations } from './limits.ts';

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly created_at: Date;
}

const organizationOf = ({ id, name, role, created_at }: OrganizationRow): Organization => ({
  id,
  name,
  role,
  createdAt: created_at.toISOString(),
});

/** The user's organizations, or one of them. */
export async function listOrganizations(
  sql: Queryable,
  userId: string,
  id: string | null = null,
): Promise<Organization[]> {
  const rows = await sql<OrganizationRow[]>`
    select o.id, o.name, m.role, o.created_at from organizations o join memberships m on m.organization_id = o.id
     where m.user_id = ${userId} and (${id}::text is null or o.id = ${id}::text)
     order by o.created_at, o.id`;
  return rows.map(organizationOf);
}

export async function retrieveOrganization(
  sql: Queryable,
  userId: string,
  id: string,
): Promise<Organization> {
  const [found] = await listOrganizations(sql, userId, id);
  if (!found) throw notFound('Organization not found', false, 'organization_not_found');
  return found;
}

export async function createOrganization(
  sql: Sql,
  userId: string,
  name: string,
  limit: number,
  by: Actor,
): Promise<Organization> {
  return sql.begin(async (tx) => {
    await refuseMoreOrganizations(tx, userId, limit);
    const id = newId('org');
    await tx`insert into organizations (id, name) values (${id}, ${name})`;
    await tx`insert into memberships (organization_id, user_id, role) values (${id}, ${userId}, 'owner')`;
    await recordAct(tx, by, {
      act: 'organization.created',
      target: id,
      in: { organization: id },
      new: { name },
    });
    return retrieveOrganization(tx, userId, id);
  });
}

export async function renameOrganization(
  sql: Sql,
  userId: string,
  id: string,
  name: string,
  by: Actor,
): Promise<Organization> {
  return sql.begin(async (tx) => {
    const [old] = await tx<{ name: string }[]>`select name from organizations where id = ${id} for update`;
    await tx`update organizations set name = ${name} where id = ${id}`;
    await recordAct(tx, by, {
      act: 'organization.updated',
      target: id,
      in: { organization: id },
      old,
      new: { name },
    });
    return retrieveOrganization(tx, userId, id);
  });
}

interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly created_at: Date;
}

const memberOf = ({ id, name, email, role, created_at }: MemberRow): Member => ({
  userId: id,
  name,
  email: email ?? undefined,
  role,
  createdAt: created_at.toISOString(),
});

export async function listMembers(
  sql: Queryable,
  organization: string,
  userId: string | null = null,
): Promise<Member[]> {
  const rows = await sql<MemberRow[]>`
    select u.id, u.name, u.email, m.role, m.created_at from memberships m join users u on u.id = m.user_id
     where m.organization_id = ${organization} and (${userId}::text is null or u.id = ${userId}::text)
     order by m.created_at, u.id`;
  return rows.map(memberOf);
}

/** Finds a member and locks the organization, so that concurrent changes cannot leave it without an owner. */
async function memberToChange(sql: Queryable, organization: string, userId: string): Promise<Member> {
  await sql`select from organizations where id = ${organization} for update`;
  const [found] = await listMembers(sql, organization, userId);
  if (!found) throw notFound('Member not found');
  return found;
}

async function refuseLastOwner(sql: Queryable, organization: string): Promise<void> {
  const [{ owners } = { owners: 0 }] = await sql<{ owners: number }[]>`
    select count(*)::int as owners from memberships where organization_id = ${organization} and role = 'owner'`;
  if (owners === 0)
    throw unprocessable('An organization must have an owner. Make another member an owner first.');
}

/** 403 unless the actor is an owner or none of the roles is owner, because only owners may add and remove owners. */
export function refuseOwnership(actorRole: Role | undefined, ...concerned: readonly Role[]): void {
  if (actorRole !== 'owner' && concerned.includes('owner')) throw forbidden();
}

export async function changeRole(
  sql: Sql,
  organization: string,
  userId: string,
  role: Role,
  by: Actor & { readonly role: Role | undefined },
): Promise<Member> {
  return sql.begin(async (tx) => {
    const old = await memberToChange(tx, organization, userId);
    refuseOwnership(by.role, old.role, role);
    await tx`update memberships set role = ${role} where organization_id = ${organization} and user_id = ${userId}`;
    await refuseLastOwner(tx, organization);
    await recordAct(tx, by, {
      act: 'member.updated',
      target: userId,
      in: { organization },
      old: { role: old.role },
      new: { role },
    });
    return { ...old, role };
  });
}

/** Removes a member, or lets one leave. Public tokens in their name and their dev environments end; keys they created remain. */
export async function removeMember(
  sql: Sql,
  organization: string,
  userId: string,
  by: Actor & { readonly role: Role | undefined },
): Promise<Member> {
  const isSelf = userBehind(by.principal) === userId;
  return sql.begin(async (tx) => {
    const old = await memberToChange(tx, organization, userId);
    if (!isSelf) refuseOwnership(by.role, old.role);
    await tx`delete from memberships where organization_id = ${organization} and user_id = ${userId}`;
    await refuseLastOwner(tx, organization);
    await archiveMemberEnvironments(tx, organization, userId);
    await recordAct(tx, by, {
      act: 'member.removed',
      target: userId,
      in: { organization },
      old: { role: old.role, name: old.name },
    });
    return old;
  });
}
