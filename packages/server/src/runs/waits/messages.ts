import { column } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import type { Engine } from '../engine/engine.ts';

/** A message that arrived in a session's `in` channel, identified by the channel's id and the message's number. */
export interface Came {
  readonly env: number;
  readonly channel: string;
  readonly last: number;
}

/** Replaces a message number when no more messages can arrive, so that every wait for one ends. */
export const noneToCome = Number.MAX_SAFE_INTEGER;

export type EndMessageWaits = (came: Came) => Promise<void>;

/** Ends the waits for a message that arrived. Concurrent calls share a statement. */
export function createEndMessageWaits(
  { sql, clock }: Pick<Engine, 'clock'> & { readonly sql: Queryable },
  resume: (env: number) => void,
): EndMessageWaits {
  return groupCommit<Came, void>(async (came) => {
    for (const env of await endMessageWaits(sql, new Date(clock.now()), came)) resume(env);
    return came.map(() => undefined);
  });
}

/** The same in one statement, in its own transaction or in the caller's. Returns the environments whose runs may continue. */
export async function endMessageWaits(sql: Queryable, at: Date, came: readonly Came[]): Promise<number[]> {
  const rows = await sql<{ env: number }[]>`
    select env from end_message_waits(
      ${at}, ${column(came, ({ env }) => env)}::int[], ${column(came, ({ channel }) => channel)}::text[],
      ${column(came, ({ last }) => last)}::bigint[])`;
  return rows.map(({ env }) => env);
}
