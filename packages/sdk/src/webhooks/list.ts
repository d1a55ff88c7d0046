import { currentClient } from '../client/current-client.ts';
import { webhookFromWire, type Webhook } from './wire.ts';

/**
 * The webhooks of the current version, by id.
 *
 * @example
 * for (const { id, url } of await webhooks.list()) console.log(id, url);
 */
export async function list(): Promise<Webhook[]> {
  const { data } = await currentClient().call('listWebhooks');
  return data.map(webhookFromWire);
}
