import type { EnvironmentKind } from '@millrace/contract';
import { seenBy } from '../../auth/target.ts';
import type { Queryable } from '../../db/connect.ts';

/**
 * The environments of a project and their branches that a user can see: all, or those of some kinds. The user's membership has already been
 * checked.
 */
export async function environmentsOf(
  sql: Queryable,
  userId: string,
  projectRef: string,
  kinds: readonly EnvironmentKind[] = [],
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select e.id from environments e join projects p on p.id = e.project_id left join environments parent on parent.id = e.parent_id
     where p.ref = ${projectRef} and e.archived_at is null and ${seenBy(sql, userId)}
       and (${kinds.length === 0} or e.kind = any(${kinds}::text[]))
     order by e.id`;
  return rows.map((row) => row.id);
}
