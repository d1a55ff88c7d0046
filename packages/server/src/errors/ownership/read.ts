import type { ErrorGroup, ErrorOwnership } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';

/** Who is responsible for the group `g`, as an `ErrorOwnership`. */
export const ownership = (sql: Queryable): Fragment => sql`error_ownership(g.env, g.id, g.task)`;

/** The assignment, note and ticket of the group `g` in the form that its history stores. */
export const assignmentState = (sql: Queryable): Fragment => sql`
  coalesce((select jsonb_strip_nulls(jsonb_build_object(
              'owner', a.owner, 'ownerUserId', a.member_id, 'note', a.note, 'ticketUrl', a.ticket_url))
              from error_assignments a where a.env = g.env and a.group_id = g.id), '{}')`;

/** Who is responsible for each group, in their order. Without the notes. */
export async function ownershipOf(
  sql: Queryable,
  env: number,
  groups: readonly { readonly id: string; readonly task: string }[],
): Promise<ErrorGroup['ownership'][]> {
  if (groups.length === 0) return [];
  const rows = await sql<{ ownership: ErrorOwnership }[]>`
    select ${ownership(sql)} as ownership
      from (select ${env}::int as env, x.id, x.task, x.nr
              from unnest(${groups.map(({ id }) => id)}::text[], ${groups.map(({ task }) => task)}::text[]) with ordinality as x (id, task, nr)) g
     order by g.nr`;
  return rows.map(({ ownership: stored }) => {
    const { note: _, ...listed } = stored;
    return listed;
  });
}
