import type { Fragment, Queryable } from '../../db/connect.ts';
import { isStorable } from '../../db/storable.ts';

/** The owners to list groups of. */
export interface OwnerFilter {
  /** In lower case. */
  readonly names: readonly string[];
  /** The members with one of the names as their address or id. */
  readonly members: readonly string[];
  /** The tasks of the current version that belong to one of them. */
  readonly tasks: readonly string[];
}

/** Undefined without owners. */
export async function readOwnerFilter(
  sql: Queryable,
  env: number,
  owners: readonly string[],
): Promise<OwnerFilter | undefined> {
  if (owners.length === 0) return undefined;
  const storable = owners.filter(isStorable);
  const names = storable.map((owner) => owner.toLowerCase());
  const [row] = await sql<{ members: string[]; tasks: string[] }[]>`
    select array(select u.id from environments e
                   join projects p on p.id = e.project_id
                   join memberships m on m.organization_id = p.organization_id
                   join users u on u.id = m.user_id
                  where e.id = ${env} and (lower(u.email) = any(${names}::text[]) or u.id = any(${storable}::text[]))) as members,
           array(select t.id from current_versions c join tasks t on t.version_id = c.version_id
                  where c.env = ${env} and lower(t.manifest ->> 'owner') = any(${names}::text[])) as tasks`;
  return { names, members: row?.members ?? [], tasks: row?.tasks ?? [] };
}

/** Whether the responsible owner of the group `g` is one of them. The assignment is looked up group by group. */
export const ownedBy = (sql: Queryable, owners: OwnerFilter): Fragment => sql`
  coalesce((select coalesce(${assignedTo(sql, owners)}, false)
              from error_assignments a
             where a.env = g.env and a.group_id = g.id and (a.owner is not null or a.member_id is not null) limit 1),
           g.task = any(${owners.tasks}::text[]))`;

/** Like `ownedBy`, in a form that uses the indexes; some groups that do not match may remain. */
export const possiblyOwnedBy = (sql: Queryable, env: number, owners: OwnerFilter): Fragment => sql`
  (g.task = any(${owners.tasks}::text[])
   or g.id = any(array(select a.group_id from error_assignments a where a.env = ${env} and ${assignedTo(sql, owners)})))`;

const assignedTo = (sql: Queryable, { names, members }: OwnerFilter): Fragment =>
  sql`(lower(a.owner) = any(${names}::text[]) or a.member_id = any(${members}::text[]))`;
