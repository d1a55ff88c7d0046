import type { ErrorChange, ErrorGroupDetail, OwnershipChange } from '@millrace/contract';
import { userBehind } from '../../auth/principal.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Change } from '../life/change.ts';
import { readErrorGroup } from '../list/retrieve.ts';
import { assignmentState } from './read.ts';

interface Assignment {
  readonly organization_id: string | null;
  readonly member_id: string | null;
  readonly owner: string | null;
  readonly note: string | null;
  readonly ticket_url: string | null;
}

const none: Assignment = {
  organization_id: null,
  member_id: null,
  owner: null,
  note: null,
  ticket_url: null,
};

/**
 * Changes the given columns of a group's assignment, with an entry in its history unless nothing changes. The caller holds the error lock, so of
 * two concurrent changes the last one wins, and both are recorded.
 */
export async function changeAssignment(
  tx: Transaction,
  { env, id, now, principal }: Change,
  act: Extract<ErrorChange['act'], 'assigned' | 'noted' | 'linked'>,
  columns: Partial<Assignment>,
): Promise<ErrorGroupDetail | undefined> {
  const [stored] = await tx<Assignment[]>`
    select organization_id, member_id, owner, note, ticket_url from error_assignments where env = ${env} and group_id = ${id}`;
  const old = stored ?? none;
  const next = { ...old, ...columns };
  const names = Object.keys(columns) as (keyof Assignment)[];
  if (names.some((name) => next[name] !== old[name])) {
    await tx`
      insert into error_audit (env, group_id, at, act, user_id, credential_id, before, after)
      select g.env, g.id, ${now}, ${act}, ${userBehind(principal)}, ${principal.credentialId},
             error_state(g) || ${assignmentState(tx)}, ${JSON.stringify(afterOf(columns))}::text::jsonb
        from error_groups g where g.env = ${env} and g.id = ${id}`;
    await tx`
      insert into error_assignments (env, group_id, organization_id, member_id, owner, note, ticket_url)
      values (${env}, ${id}, ${next.organization_id}, ${next.member_id}, ${next.owner}, ${next.note}, ${next.ticket_url})
      on conflict (env, group_id) do update set
        organization_id = excluded.organization_id, member_id = excluded.member_id, owner = excluded.owner, note = excluded.note,
        ticket_url = excluded.ticket_url`;
  }
  return readErrorGroup(tx, env, id, now);
}

const afterOf = ({ member_id, owner, note, ticket_url }: Partial<Assignment>): OwnershipChange => ({
  ...(typeof owner === 'string' && { owner }),
  ...(typeof member_id === 'string' && { ownerUserId: member_id }),
  ...(typeof note === 'string' && { note }),
  ...(typeof ticket_url === 'string' && { ticketUrl: ticket_url }),
});
