/** One-time links that log a browser in as the user of the personal access token that created them. */
import type { Operations, Reply } from '@millrace/contract';
import { credentialDigest, newLinkToken } from '../../auth/keys.ts';
import type { Actor } from '../../audit/record.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import { unauthorized } from '../../problem.ts';
import { liveToken, recordForUser } from '../tokens.ts';
import type { LoggedIn } from './sessions.ts';

const linkMinutes = 10;

export async function createLink(
  sql: Sql,
  userId: string,
  by: Actor,
  baseUrl: string,
): Promise<Reply<Operations['createBrowserLink']>> {
  const token = newLinkToken();
  const { credentialId } = by.principal;
  return sql.begin(async (tx) => {
    if (!(await liveToken(tx, credentialId))) throw unauthorized('Invalid Access Token');
    const [row] = await tx<{ expiresAt: Date }[]>`
      insert into browser_links (digest, token_id, expires_at)
      values (${credentialDigest(token)}, ${credentialId}, now() + make_interval(mins => ${linkMinutes}))
      returning expires_at as "expiresAt"`;
    if (!row) throw new TypeError('insert returned nothing');
    await recordForUser(tx, userId, by, { act: 'browserLink.created', target: credentialId });
    // In the fragment, which browsers send to no server.
    return { token, url: `${baseUrl}/login#link=${token}`, expiresAt: row.expiresAt.toISOString() };
  });
}

/** Uses a link. If two browsers use it at the same time, only one is logged in. */
export async function useLink(tx: Queryable, token: string): Promise<LoggedIn> {
  const [row] = await tx<{ tokenId: string }[]>`
    delete from browser_links where digest = ${credentialDigest(token)} and expires_at > now()
    returning token_id as "tokenId"`;
  const live = row && (await liveToken(tx, row.tokenId));
  if (!live)
    throw unauthorized(
      'This link has already been used, or expired after ten minutes. Create another one with `millrace open`.',
    );
  return {
    userId: live.userId,
    method: 'link',
    token: { id: row.tokenId, expiresAt: live.expiresAt },
  };
}
