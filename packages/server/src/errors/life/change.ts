import { userBehind, type Principal } from '../../auth/principal.ts';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import { isErrorId } from '../list/retrieve.ts';
import { tally } from '../record/tally.ts';

/** A change of a group, at its time. */
export interface Change {
  readonly env: number;
  readonly id: string;
  readonly now: Date;
  readonly principal: Principal;
}

/** A change that does not hold the lock yet. Its time is when it acquires the lock, not when it was requested. */
export interface ChangeRequest extends Omit<Change, 'now'> {
  now(): Date;
}

/**
 * Changes a group under the error lock of its environment: earlier failures are counted before the change, later ones after it. `act` receives
 * the id of the group, or of its target if it was merged. Undefined if it does not exist.
 */
export async function changing<R>(
  sql: Sql,
  request: ChangeRequest,
  act: (transaction: Transaction, change: Change) => Promise<R>,
): Promise<R | undefined> {
  const { env, principal } = request;
  if (!isErrorId(request.id)) return undefined;
  return sql.begin(async (transaction) => {
    await transaction`select lock_errors(${env})`;
    await tally(transaction, env);
    const id = await currentId(transaction, env, request.id);
    if (id === undefined) return undefined;
    // The failures just counted may have occurred during the wait for the lock; all of them precede the change.
    const now = request.now();
    // The audit log records the previous state, in which an expired ignore has ended.
    await transaction`
      select reopen_error(env, id, ignored_until, 'ignoreEnded') from error_groups
       where env = ${env} and id = ${id} and status = 'ignored' and ignored_until <= ${now}`;
    return act(transaction, { env, id, now, principal });
  });
}

/** The id of the group, or of its target if it was merged. */
export async function currentId(sql: Queryable, env: number, id: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select coalesce(merged_into, id) as id from error_groups where env = ${env} and id = ${id}`;
  return row?.id;
}

/**
 * The first part of every statement that changes a state. `old` is the group; the audit log records the actor, the time and the previous
 * state.
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
    select (old.state).env, (old.state).id, ${now}, ${act}, ${userBehind(principal)}, ${principal.credentialId},
           error_state(old.state)
      from old
  )`;
