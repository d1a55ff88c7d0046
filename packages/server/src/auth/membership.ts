import type { Role } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';

/** What a path names: a project, or an organisation itself. */
interface Place {
  readonly projectRef: string | undefined;
  readonly organization: string | undefined;
}

/** A user's role in the organisation of a place; undefined when there is no such place, or it is none of theirs. */
export type FindRole = (userId: string, place: Place) => Promise<Role | undefined>;

/** Asks the database each time: whoever is removed is out with the next request. */
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
