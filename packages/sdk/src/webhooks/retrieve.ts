import { currentClient } from '../client/current-client.ts';
import { deliveryFromWire, deliveryId, type WebhookDelivery, type WebhookDeliveryReference } from './wire.ts';

/**
 * An accepted request with its headers, its body and the runs that it started. Throws a NotFoundError for an unknown delivery.
 *
 * @example
 * const { rawBody, runs } = await webhooks.retrieve('whd_…');
 */
export async function retrieve(delivery: WebhookDeliveryReference): Promise<WebhookDelivery> {
  const params = { webhookDeliveryId: deliveryId(delivery) };
  return deliveryFromWire(await currentClient().call('retrieveWebhookDelivery', { params }));
}
