import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { deliveryFromWire, type ListedWebhookDelivery } from './wire.ts';

/** Filters for accepted requests. All filters must match. */
export interface ListWebhookDeliveriesParams {
  /** Ids of webhooks. */
  webhook?: string | readonly string[];
  /** The sender's id of the request. */
  senderId?: string;
  /** Received at or after this time: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Received at or before this time. */
  to?: Date | number;
  /** Deliveries per page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after the delivery with this id. */
  after?: string;
  /** Start before the delivery with this id. Takes precedence over `after`. */
  before?: string;
}

/**
 * Accepted requests, newest first. Await the result for the first page, or iterate over it for all.
 *
 * @example
 * for await (const { id, senderId, status } of webhooks.deliveries({ webhook: 'stripe' })) console.log(id, senderId, status);
 */
export function deliveries(params: ListWebhookDeliveriesParams = {}): PageList<ListedWebhookDelivery> {
  const client = currentClient();
  const filters = {
    'page[size]': params.limit,
    'filter[webhook]': joined(params.webhook),
    'filter[senderId]': params.senderId,
    'filter[from]': milliseconds(params.from),
    'filter[to]': milliseconds(params.to),
  };
  return pages(async (cursor) => {
    const query = { ...filters, ...pageQuery(cursor) };
    const { data, pagination } = await client.call('listWebhookDeliveries', { query });
    return { data: data.map(deliveryFromWire), pagination };
  }, params);
}
