import { currentClient } from '../client/current-client.ts';
import { fromRetrieved, tokenId, type RetrievedToken, type TokenReference } from './token.ts';

/**
 * The current state of a token. Throws a NotFoundError when the environment has no such token.
 *
 * @example
 * const { status, output } = await wait.retrieveToken('waitpoint_…');
 */
export async function retrieveToken(token: TokenReference): Promise<RetrievedToken> {
  const params = { waitpointId: tokenId(token) };
  const client = currentClient();
  return fromRetrieved(client, await client.call('retrieveWaitpointToken', { params }));
}
