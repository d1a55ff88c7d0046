import { batch, logger, metadata, task } from '@millrace/sdk';
import { z } from 'zod';
import type { importProduct } from './import-product.ts';

export const importProducts = task({
  id: 'import-products',
  description: 'Imports the feed of a supplier, one run for each product',
  schema: z.object({
    supplier: z.string(),
    products: z.array(z.record(z.string(), z.unknown())).min(1).max(1_000),
  }),
  maxDuration: 300,
  retry: { maxAttempts: 1 },
  run: async ({ supplier, products }) => {
    metadata.set('products', products.length);
    // The feed is checked product by product, so that an invalid one does not stop the others.
    const items = products.map((payload) => ({ id: 'import-product' as const, payload: payload as never }));
    const { runs } = await batch.triggerAndWait<typeof importProduct>(items);
    const failed = runs.filter(({ ok }) => !ok).length;
    logger.info('Feed imported', { supplier, products: products.length, failed });
    return { supplier, imported: runs.length - failed, failed };
  },
});
