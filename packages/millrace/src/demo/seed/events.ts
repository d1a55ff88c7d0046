import { events } from '@millrace/sdk';
import { customers } from '../catalogue.ts';
import type { Shop } from '../shop.ts';

/** Sends events of all kinds: with and without subscriptions, scheduled, canceled and replayed. */
export async function sendEvents({ nextOrder }: Shop): Promise<void> {
  const registered = customers.slice(0, 7).map(({ id, name, email }, index) => ({
    id: `registered-${id}`,
    name: 'customer.registered',
    source: 'accounts',
    // The marketplace format has no vouchers.
    payload: { id, name, email, ...(index < 5 && { voucher: `HELLO${index + 10}` }) },
  }));
  const imported = customers.slice(0, 6).map((customer, index) => {
    const orderId = nextOrder();
    const { id, name, email, address } = customer;
    return {
      id: `imported-${orderId}`,
      name: 'order.imported',
      source: 'marketplace',
      payload: {
        orderId,
        total: 41 + 2 * index,
        country: address.country,
        customer: { id, name, email },
        // The marketplace has a tier that the shop does not know.
        tier: index % 2 === 0 ? 'platinum' : 'silver',
      },
    };
  });
  await events.sendBatch([
    ...registered,
    ...imported,
    {
      id: 'stock-count-1',
      name: 'inventory.counted',
      source: 'erp',
      payload: { warehouse: 'HAM', articles: 1_204 },
    },
    {
      id: 'stock-count-2',
      name: 'inventory.counted',
      source: 'erp',
      payload: { warehouse: 'LYO', articles: 884 },
    },
  ]);
  const payload = { orderId: nextOrder(), total: 640, country: 'GB', customer: customers[0] };
  await events.send({
    id: 'winter-sale',
    name: 'campaign.started',
    deliverAfter: '2h',
    payload: { campaign: 'winter' },
  });
  await events.send({ id: 'preorder', name: 'order.paid', deliverAfter: '1d', payload });
  await events.cancel('preorder');
  await events.replay('registered-cus_2001');
}
