/** How a machine comes to a personal access token: it asks with a code, its user approves the code elsewhere, it fetches the token. */
import type { Body, Operations, Reply } from '@millrace/contract';
import { newAuthorizationCode, readAuthorizationCode } from '../auth/authorization-code.ts';
import { credentialDigest } from '../auth/keys.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import { notFound, unprocessable } from '../problem.ts';
import type { Origin } from '../request.ts';
import { insertToken, liveToken, recordForUser } from './tokens.ts';

interface LoginDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  readonly now: () => number;
}

const noCode = () => notFound('There is no such code, or its ten minutes are over: ask for another one');

export function askForLogin(
  { masterKey, now }: Omit<LoginDependencies, 'sql'>,
  baseUrl: string,
): Reply<Operations['createAuthorizationCode']> {
  const { code, expiresAt } = newAuthorizationCode(masterKey, now());
  return {
    authorizationCode: code,
    url: `${baseUrl}/api/v1/authorization-code/approve`,
    expiresAt: expiresAt.toISOString(),
  };
}

/** Keeps by which token it was approved: the new one will have the same end, and is not made where that one has ended by then. */
export async function approveLogin(
  { sql, masterKey, now }: LoginDependencies,
  approving: string,
  { authorizationCode: code, name }: Body<Operations['approveAuthorizationCode']>,
): Promise<Reply<Operations['approveAuthorizationCode']>> {
  const expiresAt = readAuthorizationCode(masterKey, code, now());
  if (!expiresAt) throw noCode();
  // Approvals are rare, and so is what of them is over.
  await sql`delete from login_approvals where expires_at <= ${new Date(now())}`;
  const { count } = await sql`
    insert into login_approvals (digest, token_id, name, expires_at)
    values (${credentialDigest(code)}, ${approving}, ${name}, ${expiresAt}) on conflict do nothing`;
  if (count === 0) throw unprocessable('This code has been approved already');
  return { name, expiresAt: expiresAt.toISOString() };
}

/** Of two that fetch at once one gets the token. */
export async function fetchLogin(
  { sql, masterKey, now }: LoginDependencies,
  code: string,
  origin: Origin,
): Promise<Reply<Operations['exchangeAuthorizationCode']>> {
  if (!readAuthorizationCode(masterKey, code, now())) throw noCode();
  return sql.begin(async (tx) => {
    const [approval] = await tx<{ tokenId: string; name: string }[]>`
      update login_approvals set fetched_at = now() where digest = ${credentialDigest(code)} and fetched_at is null
      returning token_id as "tokenId", name`;
    if (!approval) return { token: null };
    const { tokenId, name } = approval;
    const approver = await liveToken(tx, tokenId);
    if (!approver) throw notFound('The token that approved this code has ended: ask for another one');
    const { userId, expiresAt } = approver;
    const { row, text } = await insertToken(tx, userId, name, expiresAt);
    const by = { principal: { kind: 'personalAccessToken', credentialId: tokenId, userId }, origin } as const;
    await recordForUser(tx, userId, by, {
      act: 'token.created',
      target: row.id,
      new: { name, expiresAt: expiresAt ?? undefined },
    });
    return { token: { token: text, obfuscatedToken: `svc_pat_…${row.last_four}` } };
  });
}
