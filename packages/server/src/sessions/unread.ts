import type { Settlement } from '@millrace/contract/runner';
import { environment } from '../auth/credential-rows.ts';
import type { Environment } from '../auth/principal.ts';
import { sessionChannel } from '../log/key.ts';
import { mayPass } from '../db/retry.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../logger.ts';
import { findSession } from './find.ts';
import type { SessionRow } from './row.ts';
import type { EnsureServed } from './serve.ts';

export interface UnheardDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly ensureServed: EnsureServed;
}

export type ServeUnheard = (
  env: number,
  run: string,
  heard: NonNullable<Settlement['heard']>,
) => Promise<void>;

const againMs = 500;
const maxTries = 1_200;

/**
 * Starts another run for messages that came while a run lived and that it did not take before it ended: whoever appended them saw
 * a live run. Called when the end is written down, so that one of the two sees what the other did.
 */
export function serveUnheard({ sql, log, ensureServed }: UnheardDependencies): ServeUnheard {
  return async (env, run, heard) => {
    try {
      for (const { row, last } of await surely(() => namedSessions(sql, env, heard))) {
        const found = await surely(() => leftUnheard(sql, row, run, last));
        if (found) await surely(() => ensureServed(found, row.id));
      }
    } catch (error) {
      log.warn('session.unserved', { run, error: String(error) });
    }
  };
}

/** Nobody else finds these messages, for they came before the end of a run: tried until PostgreSQL is back, for ten minutes. */
async function surely<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === maxTries || !mayPass(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, againMs).unref());
    }
  }
}

/** A run may have opened a session under both of its names. */
async function namedSessions(sql: Sql, env: number, heard: Readonly<Record<string, number>>) {
  const found = new Map<string, { row: SessionRow; last: number }>();
  for (const [address, last] of Object.entries(heard)) {
    const row = await findSession(sql, env, address);
    if (row) found.set(row.id, { row, last: Math.max(last, found.get(row.id)?.last ?? -1) });
  }
  return found.values();
}

/**
 * Where the messages that are left are a reason for another run: they are news, or this run had heard more than the last one that left
 * some. Otherwise one that never says how far it came would be started again and again.
 */
async function leftUnheard(
  sql: Sql,
  { env, id, external_id: externalId }: SessionRow,
  run: string,
  last: number,
): Promise<Environment | undefined> {
  const key = sessionChannel(env, externalId ?? id, 'in');
  const [row] = await sql<{ environment: Environment }[]>`
    update sessions s set heard = greatest(s.heard, ${last}::bigint)
      from channels c, runs r, environments e, projects p
     where s.env = ${env} and s.id = ${id} and s.run_id = ${run} and s.closed_at is null
       and c.id = ${key.id} and c.next_seq > ${last}::bigint + 1
       and r.env = s.env and r.id = s.run_id and r.status is not null
       and (s.heard is null or s.heard < ${last}::bigint or c.last_at >= r.created_at)
       and e.id = s.env and p.id = e.project_id
    returning ${environment(sql)}`;
  return row?.environment;
}
