import type { Settlement } from '@millrace/contract/runner';
import { environment } from '../auth/credential-rows.ts';
import type { Environment } from '../auth/principal.ts';
import type { Sql } from '../db/connect.ts';
import { isTransient } from '../db/errors.ts';
import { retry } from '../db/retry.ts';
import { sessionChannel } from '../channels/key.ts';
import type { Log } from '../logger.ts';
import { findSession } from './find.ts';
import type { SessionRow } from './row.ts';
import type { EnsureServed } from './serve.ts';

export interface UnreadDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly ensureServed: EnsureServed;
}

/** By session, the number of the last message that a run consumed. */
type Consumed = NonNullable<Settlement['consumed']>;

export type ServeUnread = (env: number, run: string, consumed: Consumed) => Promise<void>;

/** Nothing else finds these messages, which arrived before the end of a run. Retries for ten minutes while PostgreSQL is unavailable. */
const whileAway = { when: isTransient, maxTries: 1_200, delayMs: () => 500 };

/**
 * Starts another run for messages that arrived during a run but were not consumed by it. Their writers saw a live run and did not start
 * one. Call this when the end of the run is stored, so that either the writer sees the end or this function sees the message.
 */
export function createServeUnread({ sql, log, ensureServed }: UnreadDependencies): ServeUnread {
  return async (env, run, consumed) => {
    try {
      for (const { row, last } of await retry(() => namedSessions(sql, env, consumed), whileAway)) {
        const found = await retry(() => markUnread(sql, row, run, last), whileAway);
        if (found) await retry(() => ensureServed(found, row.id), whileAway);
      }
    } catch (error) {
      log.warn('session.unserved', { run, error: String(error) });
    }
  };
}

/** A run may have opened a session under both of its names. */
async function namedSessions(sql: Sql, env: number, consumed: Consumed) {
  const found = new Map<string, { row: SessionRow; last: number }>();
  for (const [address, last] of Object.entries(consumed)) {
    const row = await findSession(sql, env, address);
    if (row) found.set(row.id, { row, last: Math.max(last, found.get(row.id)?.last ?? -1) });
  }
  return found.values();
}

/**
 * Resolves with the session's environment if its unread messages need another run: they arrived after the run was created, or the run
 * consumed more than the last one that left messages unread. Otherwise a task that never consumes messages would be restarted forever.
 */
async function markUnread(
  sql: Sql,
  { env, id, external_id: externalId }: SessionRow,
  run: string,
  last: number,
): Promise<Environment | undefined> {
  const key = sessionChannel(env, externalId ?? id, 'in');
  const [row] = await sql<{ environment: Environment }[]>`
    update sessions s set consumed = greatest(s.consumed, ${last}::bigint)
      from channels c, runs r, environments e, projects p
     where s.env = ${env} and s.id = ${id} and s.run_id = ${run} and s.closed_at is null
       and c.id = ${key.id} and c.next_seq > ${last}::bigint + 1
       and r.env = s.env and r.id = s.run_id and r.status is not null
       and (s.consumed is null or s.consumed < ${last}::bigint or c.last_at >= r.created_at)
       and e.id = s.env and p.id = e.project_id
    returning ${environment(sql)}`;
  return row?.environment;
}
