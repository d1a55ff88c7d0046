import { currentClient } from '../client/current-client.ts';
import { asJson } from '../payload/json.ts';
import { tokenId, type TokenReference } from './token.ts';

/**
 * Completes a token with data, which must be JSON: the runs that wait for it go on. The first completion counts; a later one changes
 * nothing. Throws an UnserializableError that names what in the data is no JSON, a NotFoundError when the environment has no such token.
 *
 * @example
 * await wait.completeToken(token, { approved: true });
 */
export async function completeToken(token: TokenReference, data?: unknown): Promise<{ success: boolean }> {
  const params = { waitpointId: tokenId(token) };
  return currentClient().call('completeWaitpointToken', { params, body: { data: asJson(data, 'data') } });
}
