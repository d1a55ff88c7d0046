import { currentClient } from '../client/current-client.ts';
import { create, type IdempotencyKeyOptions } from './create.ts';

/**
 * Makes the server forget a key of a task's runs: the next trigger with it creates a run. Pass the key as `idempotencyKeys.create` returned it,
 * or its parts and scope, called in the context where it was created.
 *
 * Throws a NotFoundError when the server does not have the key.
 *
 * @example
 * await idempotencyKeys.reset('send-mail', 'welcome-42', { scope: 'global' });
 */
export async function reset(
  taskIdentifier: string,
  key: string | readonly string[],
  options?: IdempotencyKeyOptions,
): Promise<{ id: string }> {
  const client = currentClient();
  const isCreated = typeof key === 'string' && /^[0-9a-f]{64}$/.test(key);
  const created = isCreated ? key : await create(key, options);
  return client.call('resetIdempotencyKey', { params: { key: created }, body: { taskIdentifier } });
}
