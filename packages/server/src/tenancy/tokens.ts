/** A user's personal access tokens, which only the user can list, create and revoke. */
import type { AccessToken } from '@millrace/contract';
import { liveSession } from '../auth/browser/live.ts';
import type { Principal } from '../auth/principal.ts';
import { credentialDigest, lastFour, newPersonalAccessToken } from '../auth/keys.ts';
import { recordAct, type Act, type Actor } from '../audit/record.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { notFound, unauthorized, unprocessable } from '../problem.ts';
import { readExpiry } from './expiry.ts';
import { tokenColumns, tokenOf, type TokenRow } from './key-row.ts';

export async function listTokens(sql: Sql, userId: string): Promise<{ data: AccessToken[] }> {
  const rows = await sql<TokenRow[]>`
    select ${tokenColumns(sql)} from personal_access_tokens where user_id = ${userId} order by created_at, id`;
  return { data: rows.map(tokenOf) };
}

/** Inserts a token. Only the digest of its text is stored. */
export async function insertToken(
  sql: Queryable,
  userId: string,
  name: string,
  expiresAt: Date | null,
): Promise<{ row: TokenRow; text: string }> {
  const text = newPersonalAccessToken();
  const [row] = await sql<TokenRow[]>`
    insert into personal_access_tokens (id, user_id, digest, last_four, name, expires_at)
    values (${newId('pat')}, ${userId}, ${credentialDigest(text)}, ${lastFour(text)}, ${name}, ${expiresAt})
    returning ${tokenColumns(sql)}`;
  if (!row) throw new TypeError('insert returned nothing');
  return { row, text };
}

export async function createToken(
  sql: Sql,
  userId: string,
  request: { readonly name: string; readonly expiresAt?: string | undefined },
  by: Actor,
  now: number,
): Promise<AccessToken & { token: string }> {
  const wished = readExpiry(request.expiresAt, now);
  return sql.begin(async (tx) => {
    const asking = await liveCredential(tx, by.principal);
    if (!asking) throw unauthorized('Invalid Access Token');
    const latest = asking.expiresAt;
    if (wished && latest && wished > latest) {
      throw unprocessable(
        `expiresAt is after ${latest.toISOString()}, when the requesting token expires. Send an earlier date, or leave it out.`,
      );
    }
    const expiresAt = wished ?? latest;
    const { row, text } = await insertToken(tx, userId, request.name, expiresAt);
    await recordForUser(tx, userId, by, {
      act: 'token.created',
      target: row.id,
      new: { name: row.name, expiresAt: expiresAt ?? undefined },
    });
    return { ...tokenOf(row), token: text };
  });
}

/**
 * The user and the expiry of a live token that creates another one, which must not outlive it; undefined if it has ended. Locks the
 * row, so that a concurrent revocation waits until the new token is in the list.
 */
export async function liveToken(
  tx: Queryable,
  id: string,
): Promise<{ userId: string; expiresAt: Date | null } | undefined> {
  const [live] = await tx<{ userId: string; expiresAt: Date | null }[]>`
    select user_id as "userId", expires_at as "expiresAt" from personal_access_tokens
     where id = ${id} and revoked_at is null and (expires_at is null or expires_at > now()) for share`;
  return live;
}

/** The same for the credential of a user: for a browser session, the token that it was opened with. A password never expires. */
async function liveCredential(
  tx: Queryable,
  { kind, credentialId }: Principal,
): Promise<{ expiresAt: Date | null } | undefined> {
  if (kind !== 'browser') return liveToken(tx, credentialId);
  const [live] = await tx<{ tokenId: string | null }[]>`
    select t.token_id as "tokenId" from browser_sessions t where t.id = ${credentialId} and ${liveSession(tx)} for share of t`;
  if (!live) return undefined;
  return live.tokenId === null ? { expiresAt: null } : liveToken(tx, live.tokenId);
}

export async function revokeToken(sql: Sql, userId: string, id: string, by: Actor): Promise<AccessToken> {
  return sql.begin(async (tx) => {
    const [live] = await tx<TokenRow[]>`
      update personal_access_tokens set revoked_at = now()
       where id = ${id} and user_id = ${userId} and revoked_at is null
      returning ${tokenColumns(tx)}`;
    if (live) {
      await recordForUser(tx, userId, by, { act: 'token.revoked', target: id, old: { name: live.name } });
      return tokenOf(live);
    }
    const [row] = await tx<TokenRow[]>`
      select ${tokenColumns(tx)} from personal_access_tokens where id = ${id} and user_id = ${userId}`;
    if (!row) throw notFound('Token not found');
    return tokenOf(row);
  });
}

/** Records an act in the audit log of each of the user's organizations, because a user's token gives access to all of them. */
export async function recordForUser(
  sql: Queryable,
  userId: string,
  by: Actor,
  act: Omit<Act, 'in'>,
): Promise<void> {
  const organizations = await sql<{ id: string }[]>`
    select organization_id as id from memberships where user_id = ${userId}`;
  for (const { id } of organizations) await recordAct(sql, by, { ...act, in: { organization: id } });
}
