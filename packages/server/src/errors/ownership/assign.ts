import type { ErrorGroupDetail } from '@millrace/contract';
import type { Sql, Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import { changing, type ChangeRequest } from '../life/change.ts';
import { changeAssignment } from './change.ts';
import { readOwnerFilter } from './filter.ts';

export interface Assign extends ChangeRequest {
  /** A member's id or address, or the name of an owner; null for the owner of the task. */
  readonly assignee: string | null;
}

/** Assigns a group. 422 for an id or an address that is neither a member's nor a task's owner. Undefined if the group is unknown. */
export const assignErrorGroup = (sql: Sql, request: Assign): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, async (tx, change) =>
    changeAssignment(tx, change, 'assigned', await assigneeOf(tx, change.env, request.assignee)),
  );

const taskOwner = { organization_id: null, member_id: null, owner: null };

const isUserId = (assignee: string): boolean => assignee.startsWith('user_');
const isAddress = (assignee: string): boolean => assignee.indexOf('@') > 0;

async function assigneeOf(tx: Transaction, env: number, assignee: string | null) {
  if (assignee === null) return taskOwner;
  if (!isUserId(assignee) && !isAddress(assignee)) return { ...taskOwner, owner: assignee };
  const [member] = await tx<{ organization_id: string; member_id: string }[]>`
    select m.organization_id, m.user_id as member_id
      from environments e
      join projects p on p.id = e.project_id
      join memberships m on m.organization_id = p.organization_id
      join users u on u.id = m.user_id
     where e.id = ${env} and (u.id = ${assignee} or lower(u.email) = lower(${assignee}))
     order by u.id <> ${assignee} limit 1 for key share of m`;
  if (member) return { ...taskOwner, ...member };
  // A person who owns a task need not have a user here.
  if (isAddress(assignee) && (await readOwnerFilter(tx, env, [assignee]))?.tasks.length)
    return { ...taskOwner, owner: assignee };
  throw unprocessable(
    isUserId(assignee)
      ? `assignee: ${assignee.slice(0, 64)} is not a member of the organization; use the id or the email address of a member, or the name of an owner such as @payments`
      : `assignee: no member of the organization has the address ${assignee}, and it owns no task; invite the person first, or use the name of an owner such as @payments`,
  );
}
