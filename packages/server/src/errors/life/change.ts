import type { Principal } from '../../auth/principal.ts';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import { isErrorId } from '../list/retrieve.ts';
import { tally } from '../record/tally.ts';

/** Somebody changes a group. */
export interface Change {
  readonly env: number;
  readonly id: string;
  readonly now: Date;
  readonly principal: Principal;
}

/** The same before its turn has come: it happens then, not when it was asked for. */
export interface Asked extends Omit<Change, 'now'> {
  now(): Date;
}

/** The user behind a caller, when there is one: a secret key stands for nobody in particular. */
export function userOf(principal: Principal): string | null {
  if (principal.kind === 'personalAccessToken') return principal.userId;
  return principal.kind === 'publicToken' ? (principal.actor ?? null) : null;
}

/**
 * Changes a group alone: what failed before is counted before, what fails meanwhile is counted afterwards. `act` is given the group
 * that the id leads to now. Undefined if it leads to none.
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
    // What was counted just now may have failed while this waited for its turn: all of it was before.
    const now = asked.now();
    // The record tells what was before: an ignore whose time is over had ended by then.
    await transaction`
      select reopen_error(env, id, ignored_until, 'ignoreEnded') from error_groups
       where env = ${env} and id = ${id} and status = 'ignored' and ignored_until <= ${now}`;
    return act(transaction, { env, id, now, principal });
  });
}

/** The group that an id leads to: its own, or the one that was merged with. */
export async function currentId(sql: Queryable, env: number, id: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select coalesce(merged_into, id) as id from error_groups where env = ${env} and id = ${id}`;
  return row?.id;
}

/** The start of every statement that changes a state: `old` is the group; the audit keeps who, when and what was before. */
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
