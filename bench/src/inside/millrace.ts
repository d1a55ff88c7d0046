/** The SDK inside a caller's process. */
import { ApiClient } from '../../../packages/sdk/src/client/api-client.ts';
import { triggerThrough } from '../../../packages/sdk/src/task/trigger.ts';
import type { Address, Client } from '../system.ts';

export async function openClient({ url, key, alone }: Address): Promise<Client> {
  const settings = { baseURL: url ?? '', secretKey: key ?? '' };
  const shared = new ApiClient(settings);
  const clients = new Map<number, ApiClient>();
  const clientOf = (caller: number): ApiClient => {
    if (alone !== 'yes') return shared;
    const found = clients.get(caller) ?? new ApiClient(settings);
    clients.set(caller, found);
    return found;
  };
  return {
    add: (sample, caller) => triggerThrough(clientOf(caller), 'noop', sample, undefined),
    close: async () => undefined,
  };
}
