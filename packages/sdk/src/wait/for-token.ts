import { currentClient } from '../client/current-client.ts';
import { insist } from '../client/insist.ts';
import { waitingRun } from './in-run.ts';
import { ResultPromise, type WaitResult } from './result-promise.ts';
import { fromRetrieved, tokenId, type TokenReference } from './token.ts';

/**
 * Waits until the token is completed or times out: `{ ok: true, output }` or `{ ok: false, error }`, a WaitTimeoutError. The run waits as with
 * `wait.for`. Returns immediately if the token has already ended.
 *
 * @example
 * const result = await wait.forToken<{ approved: boolean }>(token);
 * if (result.ok && result.output.approved) await ship(order);
 */
export function forToken<TOutput = unknown>(token: TokenReference): ResultPromise<WaitResult<TOutput>> {
  return ResultPromise.of(waitForToken<TOutput>(token));
}

async function waitForToken<TOutput>(token: TokenReference): Promise<WaitResult<TOutput>> {
  const { waits, signal } = waitingRun('wait.forToken');
  const client = currentClient();
  const id = tokenId(token);
  await waits.begin({ key: `token/${id}`, kind: 'TOKEN', target: id });
  const params = { waitpointId: id };
  const { error, output } = await fromRetrieved(
    client,
    await insist(() => client.call('retrieveWaitpointToken', { params }), signal),
  );
  return error ? { ok: false, error } : { ok: true, output: output as TOutput };
}
