import { task } from '@millrace/sdk';
import { z } from 'zod';
import { call } from '../lib/service.ts';

export const indexSearch = task({
  id: 'index-search',
  description: 'Adds a product to the search index',
  schema: z.object({
    sku: z.string(),
    title: z.string(),
    path: z.string(),
    attributes: z.record(z.string(), z.unknown()),
  }),
  queue: { concurrencyLimit: 5 },
  retry: { maxAttempts: 2 },
  run: ({ sku, ...document }) =>
    call<{ version: number }>('search', `/products/${sku}`, { method: 'PUT', body: document }),
});
