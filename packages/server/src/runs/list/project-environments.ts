import type { EnvironmentKind } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';

/** The environments of a project and their branches: all, or those of some kinds. Whose project it is was settled before. */
export async function environmentsOf(
  sql: Queryable,
  projectRef: string,
  kinds: readonly EnvironmentKind[] = [],
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select e.id from environments e join projects p on p.id = e.project_id
     where p.ref = ${projectRef} and e.archived_at is null
       and (${kinds.length === 0} or e.kind = any(${kinds}::text[]))
     order by e.id`;
  return rows.map((row) => row.id);
}
