import { logger, task } from '@millrace/sdk';
import { z } from 'zod';
import { reserve } from '../lib/erp.ts';
import { item } from '../lib/shapes.ts';

export const reserveStock = task({
  id: 'reserve-stock',
  description: 'Reserves the items of an order in the ERP',
  schema: z.object({ orderId: z.string(), items: z.array(item) }),
  queue: { name: 'warehouse', concurrencyLimit: 8 },
  retry: { maxAttempts: 2, minTimeoutInMs: 300 },
  run: async ({ orderId, items }) => {
    const shelves: Record<string, string> = {};
    for (const { sku, quantity } of items) {
      shelves[sku] = await reserve(orderId, sku, quantity);
      logger.debug('Reserved', { sku, quantity, shelf: shelves[sku] });
    }
    return shelves;
  },
});
