import { afterEach, beforeEach, expect, test } from 'vitest';
import { configure, MillraceClient, webhooks } from '../index.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeEach(async () => {
  server = await startServer((request) => answer(request));
  configure({ baseURL: server.url, secretKey: 'k' });
});
afterEach(() => server.close());

const requests = () =>
  server.received.map(({ method, path, body }) => [method, decodeURIComponent(path), body]);

const at = '2026-11-30T12:00:00.000Z';
const delivery = { id: 'whd_1', webhook: 'stripe', senderId: 'evt_1', receivedAt: at, bytes: 2, repeated: 1 };

test('list returns times as dates', async () => {
  const lastDay = { failed: 1, rejections: [{ code: 'webhook_signature_invalid', count: 3, lastAt: at }] };
  const webhook = { id: 'stripe', lastRejection: null, lastDeliveryAt: at, lastDay };
  answer = () => ({ body: { data: [webhook, { ...webhook, id: 'unused', lastDeliveryAt: null }] } });
  const [first, second] = await webhooks.list();
  expect(first).toMatchObject({
    id: 'stripe',
    lastDeliveryAt: new Date(at),
    lastDay: { failed: 1, rejections: [{ count: 3, lastAt: new Date(at) }] },
  });
  expect(second?.lastDeliveryAt).toBeNull();
});

test('deliveries are iterated over all pages, with the filters of the API', async () => {
  answer = ({ path }) => ({
    body: path.includes('after')
      ? { data: [{ ...delivery, id: 'whd_0' }], pagination: {} }
      : { data: [delivery], pagination: { next: 'whd_1' } },
  });
  const found = [];
  const params = { webhook: ['stripe', 'github'], senderId: 'evt_1', from: new Date(5), to: 9, limit: 1 };
  for await (const { id, receivedAt } of webhooks.deliveries(params)) found.push([id, receivedAt]);
  expect(found).toEqual([
    ['whd_1', new Date(at)],
    ['whd_0', new Date(at)],
  ]);
  const filtered =
    '/api/v1/webhook-deliveries?page[size]=1&filter[webhook]=stripe,github&filter[senderId]=evt_1&filter[from]=5&filter[to]=9';
  expect(requests()).toEqual([
    ['GET', filtered, undefined],
    ['GET', `${filtered}&page[after]=whd_1`, undefined],
  ]);
});

test('a delivery is retrieved and replayed by its id or itself', async () => {
  answer = ({ method }) => ({ body: method === 'GET' ? delivery : { id: 'whd_1', run: 'run_1' } });
  const retrieved = await webhooks.retrieve('whd_1');
  expect(retrieved.receivedAt).toEqual(new Date(at));
  expect(await webhooks.replay(retrieved, { version: '20261121.3' })).toEqual({ id: 'whd_1', run: 'run_1' });
  await new MillraceClient({ baseURL: server.url, secretKey: 'k' }).webhooks.replay('whd_1');
  expect(requests()).toEqual([
    ['GET', '/api/v1/webhook-deliveries/whd_1', undefined],
    ['POST', '/api/v1/webhook-deliveries/whd_1/replay', { version: '20261121.3' }],
    ['POST', '/api/v1/webhook-deliveries/whd_1/replay', {}],
  ]);
  await expect(webhooks.retrieve('')).rejects.toThrow(/Pass the id/);
});

test('send sends a text unchanged, and another body as JSON', async () => {
  answer = () => ({ body: { id: 'whd_1', isDuplicate: false } });
  await webhooks.send('stripe', { body: { id: 'evt_1' }, headers: { 'X-A': 'b' }, id: 'a' });
  await webhooks.send('plain text', { body: 'a=1', contentType: 'application/x-www-form-urlencoded' });
  await webhooks.send('stripe');
  const generated = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(requests()).toEqual([
    ['POST', '/api/v1/webhooks/stripe/send', { body: '{"id":"evt_1"}', headers: { 'X-A': 'b' }, id: 'a' }],
    [
      'POST',
      '/api/v1/webhooks/plain text/send',
      { body: 'a=1', contentType: 'application/x-www-form-urlencoded', id: generated },
    ],
    ['POST', '/api/v1/webhooks/stripe/send', { body: '{}', id: generated }],
  ]);
});
