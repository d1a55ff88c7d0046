import { logger, task } from '@millrace/sdk';
import { z } from 'zod';
import { charge, PaymentDeclined } from '../lib/payments.ts';

export const chargeCard = task({
  id: 'charge-card',
  description: 'Charges the card of a customer, once',
  schema: z.object({
    orderId: z.string(),
    card: z.string(),
    amount: z.number().positive(),
    currency: z.enum(['EUR', 'USD', 'GBP', 'JPY']),
  }),
  queue: { name: 'payments', concurrencyLimit: 5 },
  run: async ({ orderId, card, amount, currency }, { ctx }) => {
    logger.info('Charging', { orderId, amount, currency, attempt: ctx.attempt.number });
    const { id, captured } = await charge(orderId, card, amount, currency);
    return { chargeId: id, captured };
  },
  catchError: ({ error }) => (error instanceof PaymentDeclined ? { skipRetrying: true } : undefined),
});
