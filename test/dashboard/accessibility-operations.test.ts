import { expect, test } from 'vitest';
import { violationsInBothThemes } from '../support/axe.ts';
import { openDashboard } from '../support/dashboard.ts';
import { layoutFaults, sizes } from '../support/layout.ts';
import { promote } from '../support/promote.ts';
import { testServer, type TestServer } from '../support/server.ts';

const hostile = '<img src=x onerror=alert(1)> \u202Etxt \u001b[31m';

/** One object of each kind that these pages show, with names that are code in other languages. Returns the pages. */
async function filled(server: TestServer): Promise<string[]> {
  const post = async (path: string, body: unknown) => {
    const reply = await server.ask(path, { method: 'POST', body });
    expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).toBeLessThan(300);
    return reply.body;
  };
  await post('/runner/v1/versions', {
    contentHash: 'a'.repeat(64),
    tasks: [
      { id: 'report', filePath: 'tasks/report.ts', scheduled: true },
      {
        id: 'payments',
        filePath: 'tasks/payments.ts',
        webhook: { verify: { scheme: 'none', idHeader: 'x-id' } },
      },
      {
        id: 'orders',
        filePath: 'tasks/orders.ts',
        webhook: { verify: { scheme: 'stripe', secrets: ['S'] } },
      },
      { id: 'send', filePath: 'tasks/send.ts', on: { name: 'order.paid', filter: { total: { $gte: 1 } } } },
    ],
  });
  await promote(server.url, server.keys.prod);
  const { id: schedule } = await post('/api/v1/schedules', {
    task: 'report',
    cron: '0 9 * * *',
    deduplicationKey: 'key',
    externalId: hostile,
  });
  const to = new Date().toISOString();
  const from = new Date(Date.now() - 3 * 86_400_000).toISOString();
  await post(`/api/v1/schedules/${schedule}/backfill`, { from, to });
  const items = [1, 2, 3].map((n) => ({ task: 'send', payload: { n }, options: { tags: [hostile] } }));
  const { id: batch } = await post('/api/v2/tasks/batch', { items });
  const { id: bulk } = await post('/api/v1/bulk-actions', {
    action: 'cancel',
    filter: { batch },
    name: hostile,
  });
  await post('/api/v1/events', {
    id: 'event/1',
    event: { name: 'order.paid', payload: { hostile }, source: hostile },
  });
  const { id: delivery } = await post('/api/v1/webhooks/payments/send', {
    body: JSON.stringify({ hostile }),
    headers: { 'x-hostile': '<img src=x onerror=alert(1)>' },
  });
  const { id: token } = await post('/api/v1/waitpoints/tokens', { tags: ['approval', hostile] });
  const { id: session } = await post('/api/v1/sessions', {
    type: 'chat',
    externalId: hostile.slice(0, 40),
    taskIdentifier: 'send',
    triggerConfig: { basePayload: {} },
    metadata: { hostile },
  });
  for (const text of [hostile, JSON.stringify({ text: hostile }), '{"step":1}']) {
    for (const io of ['in', 'out']) await post(`/realtime/v1/sessions/${session}/${io}/append`, text);
  }
  return [
    '/schedules',
    '/schedules?form=new',
    `/schedules/${schedule}`,
    `/schedules/${schedule}?form=backfill`,
    '/batches',
    `/batches/${batch}`,
    '/bulk',
    `/bulk/${bulk}`,
    '/events',
    '/events?view=subscriptions',
    '/events?send=order.paid',
    '/events/event%2F1',
    '/webhooks',
    '/webhooks/orders',
    '/webhooks/payments?send=request',
    '/webhook-deliveries',
    `/webhook-deliveries/${delivery}`,
    '/waits',
    '/waits?q=nonsense',
    `/waits/${token}`,
    `/waits/${token}?as=json`,
    '/sessions',
    `/sessions/${session}`,
  ];
}

test(
  'axe finds no serious problem on these pages, full and empty, in both themes, and nothing is cut or covered at any size',
  { timeout: 240_000 },
  async () => {
    const server = await testServer();
    const full = await filled(server);
    const { page, open, settled } = await openDashboard(server);
    const found: string[] = [];
    const checkPage = async (path: string, env: string): Promise<void> => {
      await page.setViewportSize({ width: 1_440, height: 900 });
      await open(path, env);
      // By the element: its role is hidden behind an open dialog.
      await page.locator('h1').first().waitFor({ state: 'attached' });
      await settled();
      for (const problem of await violationsInBothThemes(page)) found.push(`${env}${path}: ${problem}`);
      // The theme does not change sizes.
      for (const { name, viewport } of sizes) {
        await page.setViewportSize(viewport);
        await settled();
        for (const problem of await layoutFaults(page)) found.push(`${env}${path} at ${name}: ${problem}`);
      }
    };
    for (const path of full) await checkPage(path, 'prod');
    for (const path of [
      '/schedules',
      '/batches',
      '/bulk',
      '/events',
      '/webhooks',
      '/webhook-deliveries',
      '/waits',
      '/sessions',
    ])
      await checkPage(path, 'stg');
    expect(found).toEqual([]);
  },
);
