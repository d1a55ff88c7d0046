import type { ErrorRule } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';

export interface RuleRow {
  readonly id: string;
  readonly position: number;
  readonly task: string | null;
  readonly type: string | null;
  readonly message: string | null;
  readonly group_key: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const ruleOf = (row: RuleRow): ErrorRule => ({
  id: row.id,
  position: row.position,
  task: row.task,
  type: row.type,
  message: row.message,
  groupKey: row.group_key,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** A project's rules in evaluation order. Positions are counted here: those in the table only define the order. */
export const rulesIn = (sql: Queryable, projectRef: string) => sql<RuleRow[]>`
  select r.id, (row_number() over (order by r.position, r.id))::int as position, r.task, r.type, r.message, r.group_key,
         r.created_at, r.updated_at
    from error_rules r join projects p on p.id = r.project_id
   where p.ref = ${projectRef} order by r.position, r.id`;

/** Puts the rules of a project in this order. */
export const arrange = (sql: Queryable, ids: readonly string[]) => sql`
  update error_rules r set position = o.position
    from unnest(${[...ids]}::text[]) with ordinality as o (id, position)
   where r.id = o.id and r.position <> o.position`;
