import type { Role } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';

/** A project or an organization named in a path. */
interface OrganizationPath {
  readonly projectRef: string | undefined;
  readonly organization: string | undefined;
}

/** A user's role in the organization; undefined if it does not exist or the user is not a member. */
export type FindRole = (userId: string, path: OrganizationPath) => Promise<Role | undefined>;

/** Queries the database each time, so that a removed member is refused at the next request. */
export function createFindRole(sql: Sql): FindRole {
  return async (userId, { projectRef, organization }) => {
    const [row] =
      projectRef === undefined
        ? await sql<{ role: Role }[]>`
            select role from memberships where user_id = ${userId} and organization_id = ${organization ?? ''}`
        : await sql<{ role: Role }[]>`
            select m.role from memberships m join projects p on p.organization_id = m.organization_id
             where m.user_id = ${userId} and p.ref = ${projectRef} and p.deleted_at is null`;
    return row?.role;
  };
}
