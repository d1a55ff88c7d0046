import { userBehind, type Principal } from '../../auth/principal.ts';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import { isErrorId } from '../list/retrieve.ts';
import { tally } from '../record/tally.ts';

/** A change of a group, at its moment. */
export interface Change {
  readonly env: number;
  readonly id: string;
  readonly now: Date;
  readonly principal: Principal;
}

/** The same before it holds the lock: its moment is when it has the lock, not when it was requested. */
export interface Asked extends Omit<Change, 'now'> {
  now(): Date;
}

/**
 * Changes a group under the error lock of its environment: failures so far are counted before, later ones afterwards. `act` gets the id of the
 * group, or of the one that it was merged into. Undefined if there is none.
 */
export async function changing<R>(
  sql: Sql,
  asked: Asked,
  act: (transaction: Transaction, change: Change) => Promise<R>,
): Promise<R | undefined> {
  const { env, principal } = asked;
  if (!isErrorId(asked.id)) return undefined;
  return sql.begin(async (transaction) => {
    await transaction`select lock_errors(${env})`;
    await tally(transaction, env);
    const id = await currentId(transaction, env, asked.id);
    if (id === undefined) return undefined;
    // What was just counted may have failed while this waited for the lock. All of it is earlier than the change.
    const now = asked.now();
    // The audit has the state before: an ignore whose time is over had ended.
    await transaction`
      select reopen_error(env, id, ignored_until, 'ignoreEnded') from error_groups
       where env = ${env} and id = ${id} and status = 'ignored' and ignored_until <= ${now}`;
    return act(transaction, { env, id, now, principal });
  });
}

/** The id of the group, or of the one that it was merged into. */
export async function currentId(sql: Queryable, env: number, id: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select coalesce(merged_into, id) as id from error_groups where env = ${env} and id = ${id}`;
  return row?.id;
}

/** The first part of every statement that changes a state. `old` is the group; the audit records who, when and the state before. */
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
