import { column } from '../db/columns.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import type { ChannelKey } from './key.ts';

export interface NewChannel {
  readonly key: ChannelKey;
  /** The session that the channel belongs to; omitted for a stream of a run. */
  readonly session?: string;
  /** When appends begin to be rejected. */
  readonly expiresAt?: Date | null;
}

/** Creates missing channels. `sql` may be the caller's transaction. */
export async function openChannels(
  sql: Queryable,
  channels: readonly NewChannel[],
  now: Date,
): Promise<void> {
  await sql`
    insert into channels (id, env, name, session_id, expires_at, created_at)
    select i.id, i.env, i.name, i.session_id, i.expires_at, ${now}
      from unnest(${column(channels, ({ key }) => key.id)}::uuid[], ${column(channels, ({ key }) => key.env)}::int[],
                  ${column(channels, ({ key }) => key.name)}::text[], ${column(channels, ({ session }) => session)}::text[],
                  ${column(channels, ({ expiresAt }) => expiresAt)}::timestamptz[]) as i (id, env, name, session_id, expires_at)
     order by i.id
    on conflict do nothing`;
}

/**
 * Closes the channels of a session: later appends are rejected, earlier ones are stored. Resolves with the time of the close: `now`, or the
 * time of the last record if that is later.
 */
export async function closeChannels(
  tx: Transaction,
  env: number,
  session: string,
  now: () => number,
): Promise<Date> {
  const rows = await tx<{ last_at: Date | null }[]>`
    select last_at from channels where env = ${env} and session_id = ${session} order by id for update`;
  const at = new Date(Math.max(now(), ...rows.map((row) => row.last_at?.getTime() ?? 0)));
  await tx`
    update channels set closed_at = ${at} where env = ${env} and session_id = ${session} and closed_at is null`;
  return at;
}
