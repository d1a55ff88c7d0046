import { event, idempotencyKeys, logger, task, wait } from '@millrace/sdk';
import { z } from 'zod';
import { pointsFor } from '../lib/loyalty.ts';
import { customer } from '../lib/shapes.ts';
import { sendMail } from './send-mail.ts';

export const welcomeCustomer = task({
  id: 'welcome-customer',
  description: 'Welcomes a new customer, and follows up a few days later',
  on: event({ name: 'customer.registered', schema: customer.extend({ voucher: z.string().optional() }) }),
  run: async ({ id, name, email, voucher }) => {
    const first = await idempotencyKeys.create(['welcome', id], { scope: 'global' });
    await sendMail.trigger(
      { template: 'welcome', to: email, values: { name, voucher } },
      { idempotencyKey: first, tags: [`customer:${id}`] },
    );
    await wait.for({ days: 3 });
    await sendMail.trigger({ template: 'newsletter', to: email, values: { title: 'what others like' } });
    return { id };
  },
});

const paid = z.object({ orderId: z.string(), total: z.number(), country: z.string(), customer });

export const loyaltyPoints = task({
  id: 'loyalty-points',
  description: 'Credits the points of a paid order',
  on: event({
    name: 'order.*',
    filter: { total: { $gt: 0 } },
    schema: paid.extend({ tier: z.string().default('basic') }),
  }),
  queue: { name: 'ledger', concurrencyLimit: 2 },
  retry: { maxAttempts: 1 },
  run: ({ customer: { id }, tier, total }) => ({ id, points: pointsFor(tier, total) }),
});

export const bigOrder = task({
  id: 'big-order',
  description: 'Notifies the sales team of large orders',
  on: event({ name: 'order.paid', filter: { total: { $gte: 400 } }, schema: paid }),
  run: ({ orderId, total, country }, { ctx }) => {
    logger.info('A large order', { orderId, total, country, event: ctx.event?.id });
    return { notified: 'sales' };
  },
});
