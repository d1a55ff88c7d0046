import { currentClient } from '../client/current-client.ts';
import { deliveryId, type WebhookDeliveryReference } from './wire.ts';

export interface ReplayDeliveryOptions {
  /** The version on which the run executes, such as `20261121.3`. Default: the current one. */
  version?: string;
}

/**
 * Starts another run with the content of an accepted request. Returns the id of the run. Throws an UnprocessableEntityError if the version does
 * not exist or lacks the webhook, or if the content was erased.
 *
 * @example
 * const { run } = await webhooks.replay('whd_…', { version: '20261121.3' });
 */
export async function replay(
  delivery: WebhookDeliveryReference,
  { version }: ReplayDeliveryOptions = {},
): Promise<{ readonly id: string; readonly run: string }> {
  const params = { webhookDeliveryId: deliveryId(delivery) };
  return currentClient().call('replayWebhookDelivery', { params, body: { version } });
}
