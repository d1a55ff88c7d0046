import { events, logger, metadata, tags, task } from '@millrace/sdk';
import { order, totalOf, weightOf } from '../lib/shapes.ts';
import { stoppedAt } from '../lib/stopped.ts';
import { taxOf } from '../lib/tax.ts';
import { chargeCard } from './charge-card.ts';
import { reserveStock } from './reserve-stock.ts';
import { sendMail } from './send-mail.ts';
import { shipOrder } from './ship-order.ts';

export const checkout = task({
  id: 'checkout',
  description: 'Processes an order from payment to shipping',
  schema: order,
  queue: { name: 'orders', concurrencyLimit: 25 },
  findBy: ['payload.orderId', 'payload.customer.id'],
  retry: { maxAttempts: 1 },
  run: async (payload) => {
    const { orderId, customer, address, items, currency } = payload;
    const total = totalOf(payload);
    metadata.set('total', total);
    metadata.set('step', 'stock');
    await tags.add(`country:${address.country}`);
    logger.info('Order received', { orderId, items: items.length, total, currency });
    const tax = taxOf(address.country, total);
    const shelves = await reserveStock.triggerAndWait({ orderId, items }).unwrap().catch(stoppedAt('stock'));

    metadata.set('step', 'payment');
    const charged = await chargeCard.triggerAndWait(
      { orderId, card: payload.card, amount: total, currency },
      { concurrencyKey: currency },
    );
    if (!charged.ok) {
      if ((charged.error.cause as Error).name !== 'PaymentDeclined') stoppedAt('payment')(charged.error);
      logger.warn('The payment was declined', { orderId, reason: charged.error.message });
      await sendMail.trigger({
        template: 'payment-declined',
        to: customer.email,
        values: { name: customer.name, orderId },
      });
      return { orderId, status: 'declined' as const };
    }

    metadata.set('step', 'shipping');
    const parcel = await shipOrder
      .triggerAndWait({ orderId, name: customer.name, address, weight: weightOf(items), shelves })
      .unwrap()
      .catch(stoppedAt('shipping'));
    await sendMail.trigger(
      {
        template: 'order-shipped',
        to: customer.email,
        values: { name: customer.name, parcel: parcel.tracking },
      },
      { delay: '2s', tags: [`order:${orderId}`] },
    );
    await events.send({
      id: `${orderId}-paid`,
      name: 'order.paid',
      source: 'checkout',
      payload: { orderId, total, country: address.country, customer },
    });
    metadata.set('step', 'done');
    return { orderId, status: 'shipped' as const, total, tax, chargeId: charged.output.chargeId, ...parcel };
  },
});
