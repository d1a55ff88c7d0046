import type { DeliveryStatus } from '@millrace/contract';
import { pages, type PageList } from '../client/page.ts';
import { addressed } from '../envvars/address.ts';
import { deliveryFromWire, type NotificationDelivery } from './endpoint.ts';

/** Filters for deliveries in the environment of the secret key. All filters must match. */
export interface ListDeliveriesParams {
  /** Endpoint ids. */
  endpoint?: readonly string[];
  /** Types such as `alert.firing`. */
  type?: readonly string[];
  status?: readonly DeliveryStatus[];
  /** Deliveries per page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after the delivery with this id. */
  after?: string;
  /** Start before the delivery with this id. Takes precedence over `after`. */
  before?: string;
}

/**
 * Deliveries, newest first. Await the result for the first page, or iterate over it for all.
 *
 * @example
 * for await (const { id, failure } of notifications.listDeliveries({ status: ['FAILED'] })) console.log(id, failure);
 */
export function listDeliveries(params: ListDeliveriesParams = {}): PageList<NotificationDelivery> {
  const target = addressed([], 0);
  const filters = {
    'page[size]': params.limit,
    'filter[endpoint]': params.endpoint?.join(','),
    'filter[type]': params.type?.join(','),
    'filter[status]': params.status?.join(','),
  };
  return pages(
    async ({ after, before }) => {
      const { client, params: at } = await target;
      const query = { ...filters, 'page[after]': after, 'page[before]': before };
      const { data, pagination } = await client.call('listNotificationDeliveries', {
        params: { ...at },
        query,
      });
      return { data: data.map(deliveryFromWire), pagination };
    },
    { after: params.after, before: params.before },
  );
}

/**
 * One delivery. Throws a NotFoundError if the environment has no such delivery.
 *
 * @example
 * const { status, failure } = await notifications.retrieveDelivery('delivery_…');
 */
export function retrieveDelivery(
  projectRef: string,
  env: string,
  deliveryId: string,
): Promise<NotificationDelivery>;
export function retrieveDelivery(deliveryId: string): Promise<NotificationDelivery>;
export async function retrieveDelivery(...args: readonly string[]): Promise<NotificationDelivery> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return deliveryFromWire(
    await client.call('retrieveNotificationDelivery', { params: { ...params, deliveryId: rest[0] } }),
  );
}

/**
 * Sends a delivery again from the beginning, with the same message id. Throws a ConflictError if its endpoint is disabled.
 *
 * @example
 * await notifications.replayDelivery('delivery_…');
 */
export function replayDelivery(
  projectRef: string,
  env: string,
  deliveryId: string,
): Promise<NotificationDelivery>;
export function replayDelivery(deliveryId: string): Promise<NotificationDelivery>;
export async function replayDelivery(...args: readonly string[]): Promise<NotificationDelivery> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return deliveryFromWire(
    await client.call('replayNotificationDelivery', { params: { ...params, deliveryId: rest[0] } }),
  );
}
