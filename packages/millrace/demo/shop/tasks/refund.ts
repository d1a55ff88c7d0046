import { logger, metadata, task, wait } from '@millrace/sdk';
import { z } from 'zod';
import { refund as pay } from '../lib/payments.ts';
import { sendMail } from './send-mail.ts';

const askFrom = 50;

export const refund = task({
  id: 'refund',
  description: 'Refunds a payment; amounts from 50 require approval',
  schema: z.object({
    orderId: z.string(),
    chargeId: z.string(),
    captured: z.number(),
    amount: z.number().positive(),
    reason: z.string(),
    to: z.object({ name: z.string(), email: z.string() }),
    answerWithin: z.string().default('3d').describe('Time limit for the approval, such as 3d'),
  }),
  retry: { maxAttempts: 1 },
  run: async ({ orderId, chargeId, captured, amount, reason, to, answerWithin }) => {
    if (amount > captured)
      throw new RangeError(`A refund of ${amount} exceeds the ${captured} that were captured`);
    if (amount >= askFrom) {
      const token = await wait.createToken({ timeout: answerWithin, tags: ['refund', `order:${orderId}`] });
      metadata.set('waitsFor', 'approval');
      logger.info('Waiting for an approval', { orderId, amount, reason, token: token.id });
      const { approved, by } = await wait.forToken<{ approved: boolean; by: string }>(token).unwrap();
      metadata.set('waitsFor', null);
      if (!approved) return { orderId, status: 'rejected' as const, by };
    }
    const { id } = await pay(chargeId, amount);
    await sendMail.trigger({ template: 'refund-done', to: to.email, values: { name: to.name, amount } });
    return { orderId, status: 'refunded' as const, id };
  },
});
