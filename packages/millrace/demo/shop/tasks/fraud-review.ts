import { logger, metadata, task, wait } from '@millrace/sdk';
import { z } from 'zod';

/** A reviewer confirmed the fraud. */
export class FraudConfirmed extends Error {
  override readonly name = 'FraudConfirmed';
}

export const fraudReview = task({
  id: 'fraud-review',
  description: 'Requests a review of an order with a high fraud score',
  schema: z.object({ orderId: z.string(), score: z.number().min(0).max(100), signals: z.array(z.string()) }),
  retry: { maxAttempts: 1 },
  run: async ({ orderId, score, signals }) => {
    const token = await wait.createToken({ timeout: '1d', tags: ['fraud', `order:${orderId}`] });
    metadata.set('score', score);
    logger.warn('The order looks like fraud', { orderId, score, signals, token: token.id });
    const { fraud } = await wait.forToken<{ fraud: boolean }>(token).unwrap();
    if (fraud) throw new FraudConfirmed('The order was stopped: fraud confirmed');
    return { orderId, cleared: true };
  },
});
