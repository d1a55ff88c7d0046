/** A user's browser sessions. */
import type { BrowserMethod, BrowserSession } from '@millrace/contract';
import { liveSession, maxSessionDays } from '../../auth/browser/live.ts';
import { credentialDigest, newBrowserToken } from '../../auth/keys.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Actor } from '../../audit/record.ts';
import type { Fragment, Queryable, Sql } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import { notFound } from '../../problem.ts';
import type { Origin } from '../../request.ts';
import { recordForUser } from '../tokens.ts';

interface SessionRow {
  readonly id: string;
  readonly method: BrowserMethod;
  readonly user_agent: string | null;
  readonly address: string;
  readonly created_at: Date;
  readonly last_used_at: Date;
  readonly expires_at: Date;
}

const columns = (sql: Queryable): Fragment => sql`
  t.id, t.method, t.user_agent, t.address, t.created_at, t.last_used_at, t.expires_at`;

const sessionOf = (row: SessionRow, current: string): BrowserSession => ({
  id: row.id,
  method: row.method,
  userAgent: row.user_agent,
  address: row.address,
  createdAt: row.created_at.toISOString(),
  lastUsedAt: row.last_used_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  isCurrent: row.id === current,
});

/** How a user logged in. */
export interface LoggedIn {
  readonly userId: string;
  readonly method: BrowserMethod;
  /**
   * The personal access token behind it, and when that expires; null for sessions opened with a password or a provider, and for sessions
   * approved by such a session.
   */
  readonly token: { readonly id: string; readonly expiresAt: Date | null } | null;
}

/**
 * Always opens a new session and ends the browser's previous one, so that an attacker cannot make someone else use a session known to the
 * attacker. `hasEnded` is true if there was a previous session.
 */
export async function openSession(
  tx: Queryable,
  { userId, method, token }: LoggedIn,
  origin: Origin,
  before: string | undefined,
): Promise<{ session: BrowserSession; text: string; expiresAt: Date; hasEnded: boolean }> {
  const text = newBrowserToken();
  const [row] = await tx<SessionRow[]>`
    insert into browser_sessions as t (id, user_id, digest, method, token_id, user_agent, address, expires_at)
    values (${newId('browser')}, ${userId}, ${credentialDigest(text)}, ${method}, ${token?.id ?? null},
      ${origin.userAgent ?? null}, ${origin.address},
      least(now() + make_interval(days => ${maxSessionDays}), ${token?.expiresAt ?? null}::timestamptz))
    returning ${columns(tx)}`;
  if (!row) throw new TypeError('insert returned nothing');
  const principal: Principal = { kind: 'browser', credentialId: row.id, userId, expiresAt: row.expires_at };
  await recordForUser(
    tx,
    userId,
    { principal, origin },
    {
      act: 'browserSession.created',
      target: row.id,
      new: { method, token: token?.id },
    },
  );
  let hasEnded = false;
  if (before !== undefined) {
    const [left] = await tx<{ id: string; userId: string }[]>`
      update browser_sessions t set revoked_at = now()
       where t.digest = ${credentialDigest(before)} and ${liveSession(tx)}
      returning t.id, t.user_id as "userId"`;
    hasEnded = left !== undefined;
    if (left) await recordEnd(tx, left.userId, left.id, { principal, origin });
  }
  return { session: sessionOf(row, row.id), text, expiresAt: row.expires_at, hasEnded };
}

const recordEnd = (tx: Queryable, userId: string, id: string, by: Actor): Promise<void> =>
  recordForUser(tx, userId, by, { act: 'browserSession.revoked', target: id });

/** The live sessions of a user. `current` is that of the request. */
export async function listSessions(
  sql: Sql,
  userId: string,
  current: string,
): Promise<{ data: BrowserSession[] }> {
  const rows = await sql<SessionRow[]>`
    select ${columns(sql)} from browser_sessions t
     where t.user_id = ${userId} and ${liveSession(sql)} order by t.last_used_at desc, t.id`;
  return { data: rows.map((row) => sessionOf(row, current)) };
}

export async function retrieveSession(sql: Sql, id: string): Promise<BrowserSession> {
  const [row] = await sql<SessionRow[]>`
    select ${columns(sql)} from browser_sessions t where t.id = ${id}`;
  if (!row) throw notFound('Browser session not found');
  return sessionOf(row, id);
}

/** Ends a session. Ending it again changes nothing. */
export async function revokeSession(
  sql: Sql,
  userId: string,
  id: string,
  by: Actor,
): Promise<{ id: string }> {
  return sql.begin(async (tx) => {
    const { count } = await tx`
      update browser_sessions set revoked_at = now() where id = ${id} and user_id = ${userId} and revoked_at is null`;
    if (count > 0) await recordEnd(tx, userId, id, by);
    else {
      const [known] = await tx`select from browser_sessions where id = ${id} and user_id = ${userId}`;
      if (!known) throw notFound('Browser session not found');
    }
    return { id };
  });
}
