import { batch, queues, runs, tasks } from '@millrace/sdk';
import { customers, products } from '../catalogue.ts';
import type { Shop } from '../shop.ts';

export const newsletter = { type: 'custom', name: 'newsletter' } as const;

const letterTo = (email: string) => ({
  template: 'newsletter',
  to: email,
  values: { title: 'lamps for long evenings' },
});

/** Runs that wait for a paused queue, a time, or a version. Some expire, some are canceled. */
export async function addWaitingRuns({ random, nextOrder }: Shop): Promise<void> {
  const later = { queue: newsletter.name, tags: ['campaign:winter'], delay: '6h' };
  await tasks.trigger('send-mail', letterTo('ada.okafor@mail.example'), later);
  await queues.pause(newsletter);
  await batch.trigger(
    customers.map(({ email }, index) => ({
      id: 'send-mail',
      payload: letterTo(email),
      options: {
        queue: newsletter.name,
        tags: ['campaign:winter'],
        // A letter that is only valid for one day, which has ended.
        ttl: index < 3 ? 2 : '7d',
      },
    })),
  );
  await batch.trigger(
    products.map(({ sku }) => ({
      id: 'resize-image',
      payload: { sku, file: `${sku.toLowerCase()}.jpeg`, widths: [320, 640, 1_280] },
      options: { tags: ['campaign:spring'], delay: '2d' },
    })),
  );
  await tasks.trigger(
    'render-invoice',
    { orderId: nextOrder(), lines: random.whole(2, 9) },
    { externalDeploymentId: 'pull-request-482', tags: ['preview'] },
  );
  await queues.overrideConcurrencyLimit({ type: 'custom', name: 'payments' }, 3);
  await queues.updateEnvironment({ concurrencyLimit: 100 });
}

/** Batches: pictures, and the feed of a supplier, whose products are a batch as well. */
export async function addBatches({ random }: Shop): Promise<void> {
  const pictures = Array.from({ length: 24 }, (_, index) => {
    const { sku } = random.pick(products);
    return { payload: { sku, file: `${sku.toLowerCase()}-${index}.jpeg`, widths: [320, 960] } };
  });
  await tasks.batchTrigger('resize-image', pictures);
  for (const supplier of ['Nordlicht', 'Atelier Lyon'])
    await tasks.trigger('import-products', feedOf(supplier), { tags: [`supplier:${supplier}`] });
}

/** The feed of a supplier, in which one product is wrong. */
export const feedOf = (supplier: string) => ({
  supplier,
  products: [...products, { sku: 'WREATH-1', title: 'Wreath', price: 30, category: 'seasonal' }].map(
    (product) => ({
      ...product,
      attributes: JSON.stringify({ supplier, material: product.category === 'light' ? 'brass' : 'oak' }),
    }),
  ),
});

/** Replays the mails that failed with an error and cancels a campaign. */
export async function addBulkActions(refused: { readonly id: string }): Promise<void> {
  const replayed = await runs.bulk.replay({
    filter: { taskIdentifier: 'send-mail', status: 'FAILED', error: refused.id },
    name: 'Emails that the provider rejected',
  });
  const canceled = await runs.bulk.cancel({
    filter: { tag: 'campaign:spring', status: 'DELAYED' },
    name: 'The spring campaign is off',
  });
  for (const action of [replayed, canceled]) await runs.bulk.poll(action, { pollIntervalMs: 250 });
}
