import { metadata, task } from '@millrace/sdk';
import { z } from 'zod';
import { indexSearch } from './index-search.ts';

const categories: Readonly<Record<string, { readonly path: readonly string[] }>> = {
  kitchen: { path: ['home', 'kitchen'] },
  light: { path: ['home', 'light'] },
  garden: { path: ['outdoor', 'garden'] },
};

export const importProduct = task({
  id: 'import-product',
  description: 'Imports one product of the feed of a supplier',
  schema: z.object({
    sku: z.string(),
    title: z.string().min(1),
    price: z.number(),
    category: z.string(),
    attributes: z.string().describe('JSON, as the supplier sends it'),
  }),
  queue: { name: 'imports', concurrencyLimit: 6 },
  retry: { maxAttempts: 1 },
  run: async ({ sku, title, price, category, attributes }) => {
    if (price <= 0) throw new RangeError(`The price of ${sku} is ${price}`);
    const path = categories[category]!.path.join(' / ');
    const parsed = JSON.parse(attributes) as Record<string, unknown>;
    metadata.parent.increment('imported');
    await indexSearch.trigger(
      { sku, title, path, attributes: parsed },
      { debounce: { key: sku, delay: '1s', mode: 'trailing' } },
    );
    return { sku, path, attributes: Object.keys(parsed).length };
  },
});
