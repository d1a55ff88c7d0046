import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { asJson } from '../payload/json.ts';
import { codecOf } from '../sealing/codec.ts';
import { seal } from '../sealing/envelope.ts';
import { tokenId, type TokenReference } from './token.ts';

/**
 * Completes a token with data, which must be JSON: the runs that wait for it continue. Only the first completion counts; later ones have no
 * effect. Throws an UnserializableError that names the offending value, and a NotFoundError when the environment has no such token.
 *
 * @example
 * await wait.completeToken(token, { approved: true });
 */
export async function completeToken(token: TokenReference, data?: unknown): Promise<{ success: boolean }> {
  return completeTokenThrough(currentClient(), token, data);
}

/** The same, through the given client. */
export async function completeTokenThrough(
  client: ApiClient,
  token: TokenReference,
  data: unknown,
): Promise<{ success: boolean }> {
  const params = { waitpointId: tokenId(token) };
  const json = asJson(data, 'data');
  const codec = json === undefined ? undefined : codecOf(client);
  const sent = codec
    ? await seal(
        codec,
        { text: JSON.stringify(json), type: 'application/json' },
        `token ${params.waitpointId}`,
      )
    : json;
  return client.call('completeWaitpointToken', { params, body: { data: sent } });
}
