import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callServer } from '../../packages/millrace/src/deploy/client.ts';
import { publishedProject } from './project.ts';
import { serve, type Served } from './serve.ts';

// oxlint-disable typescript/no-explicit-any -- the tests check the content of replies

const tasks = fileURLToPath(new URL('./options.fixture.ts', import.meta.url));
const config = `export default { project: 'p', maxDuration: 120, ttl: '50m', logLevel: 'info', retries: { enabledInDev: true, default: { maxAttempts: 1 } } };`;

const ends: (() => Promise<void>)[] = [];
let served: Served;

beforeAll(async () => {
  const onEnd = (end: () => Promise<void>): void => void ends.unshift(end);
  const files = { 'trigger.config.ts': config, 'trigger/options.ts': await readFile(tasks, 'utf8') };
  const { dir } = await publishedProject('4.8', files, onEnd);
  served = await serve(dir, 'prod', onEnd);
}, 120_000);
afterAll(async () => {
  for (const end of ends) await end();
});

const get = async (path: string): Promise<any> => (await served.server.ask(path, { key: served.key })).body;
const runOf = (id: string): Promise<any> => get(`/api/v3/runs/${id}`);

test('the options of triggers act', async () => {
  expect(served.problems).toEqual([]);
  const { status, output } = await served.run('triggers-all');
  expect(status).toBe('COMPLETED');
  expect(output.all).toMatchObject({
    payload: 'all',
    maxAttempts: 2,
    maxDuration: 77,
    machine: 'micro',
    queue: 'wide',
    concurrencyKey: 'a key',
    priority: 5,
    tags: ['tagged'],
  });
  expect(await runOf(output.run)).toMatchObject({
    metadata: { from: 'a trigger' },
    ttl: '40m',
    region: 'eu-central-1',
  });
  expect(output.isSame).toBe(true);
  const later = await served.ended(output.later);
  expect(Date.parse(later.startedAt)).toBeGreaterThanOrEqual(Date.parse(later.delayedUntil));
  expect(later).toMatchObject({ ttl: '50m', output: { version: output.all.version } });
  expect(await runOf(output.pinned)).toMatchObject({ status: 'PENDING_VERSION' });
  const [first, second] = await Promise.all(output.batches.map((id: string) => get(`/api/v2/batches/${id}`)));
  expect(first.runs).toHaveLength(2);
  expect(second.runs).toEqual(first.runs);
});

test('a debounced run takes the last payload, and starts after the maximum delay', async () => {
  const { output } = await served.run('debounces');
  expect(await served.ended(output.first)).toMatchObject({ output: { payload: output.count - 1 } });
});

test('limits of a single run are rejected', async () => {
  expect(await served.run('refused-limits')).toMatchObject({
    output: expect.stringContaining('option concurrency of trigger: not supported by Millrace') as string,
  });
});

test('a subscription that is aborted cancels its run', async () => {
  expect(await served.run('abandons')).toMatchObject({ output: 'aborted' });
  const { data } = await get('/api/v1/runs?filter[tag]=abandoned');
  expect(await served.ended(data[0].id)).toMatchObject({ status: 'CANCELED' });
});

test('catchError and handleError determine the next attempt', async () => {
  for (const task of ['recovers-at', 'recovers-after', 'recovers-by'])
    expect([task, await served.run(task)]).toMatchObject([task, { status: 'COMPLETED', output: 2 }]);
  expect(await served.run('replaces-error')).toMatchObject({
    status: 'FAILED',
    attemptCount: 1,
    error: { message: 'replaced' },
  });
  expect(await served.run('counts')).toMatchObject({ output: [1, 2] });
});

test('a webhook of the published SDK receives signed requests, once, and has its event, headers and endpoint', async () => {
  expect(await served.run('sources')).toMatchObject({ output: ['linear', '{body.id}', 'function'] });
  const { url, projectRef } = served.server;
  await callServer({ url, key: served.key }, 'importVariables', {
    params: { projectRef, env: 'prod' },
    body: { variables: { STRIPE_WEBHOOK_SECRET: 'whsec_test' }, override: true },
  });
  const { data } = await get('/api/v1/webhooks');
  expect(data.map(({ id }: { id: string }) => id).toSorted()).toEqual(['payments', 'push']);
  const address = new URL(data.find(({ id }: { id: string }) => id === 'payments').url).pathname;
  const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid' });
  const send = async (secret: string) => {
    const at = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${signature}` };
    const response = await fetch(`${url}${address}`, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as any };
  };
  expect((await send('another')).status).toBe(401);
  await expect.poll(async () => (await send('whsec_test')).status).toBe(200);
  const again = await send('whsec_test');
  expect(again.body).toMatchObject({ isDuplicate: true });
  const delivery = await get(`/api/v1/webhook-deliveries/${again.body.id}`);
  expect(delivery.runs).toHaveLength(1);
  const run = await served.ended(delivery.runs[0].id);
  expect(run).toMatchObject({ status: 'COMPLETED', attemptCount: 2 });
  expect(
    (await served.allLogs(run.id, 2)).map(({ message, properties }) => [message, properties]),
  ).toMatchObject([
    ['started', { event: { id: 'evt_1' } }],
    [
      'received',
      {
        event: { id: 'evt_1', type: 'invoice.paid' },
        signed: true,
        endpoint: { id: 'stripe', declaredId: 'stripe', metadata: { tier: 'gold' } },
      },
    ],
  ]);
});
