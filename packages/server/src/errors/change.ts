import type { Principal } from '../auth/principal.ts';
import type { Queryable } from '../db/connect.ts';

/** Somebody changes the state of a group. */
export interface Change {
  readonly env: number;
  readonly id: string;
  readonly now: Date;
  readonly principal: Principal;
}

/** The user behind a caller, when there is one: a secret key stands for nobody in particular. */
export function userOf(principal: Principal): string | null {
  if (principal.kind === 'personalAccessToken') return principal.userId;
  return principal.kind === 'publicToken' ? (principal.actor ?? null) : null;
}

/**
 * The start of every statement that changes a state: `old` is the group, locked, so that a failure that races the change
 * comes wholly before or wholly after it; the audit keeps who, when and what was before.
 */
export const audited = (
  sql: Queryable,
  { env, id, now, principal }: Change,
  act: 'resolved' | 'ignored' | 'unresolved',
) => sql`
  old as (
    select g as state from error_groups g where g.env = ${env} and g.id = ${id} for update
  ), audit as (
    insert into error_audit (env, group_id, at, act, user_id, credential_id, before)
    select (old.state).env, (old.state).id, ${now}, ${act}, ${userOf(principal)}, ${principal.credentialId},
           error_state(old.state)
      from old
  )`;
