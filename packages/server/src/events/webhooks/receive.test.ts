import { webhookBodyLimit } from '@millrace/contract';
import type { WebhookVerification } from '@millrace/contract/runner';
import { describe, expect, test } from 'vitest';
import { ownWebhookServer, webhookServer, type WebhookServer } from './testing/webhook-server.ts';

const github: WebhookVerification = { scheme: 'github', secrets: ['HOOK_SECRET'] };
const stripe: WebhookVerification = { scheme: 'stripe', secrets: ['HOOK_SECRET', 'HOOK_SECRET_NEXT'] };
const slack: WebhookVerification = { scheme: 'slack', secrets: ['HOOK_SECRET'] };
const hmac: WebhookVerification = {
  scheme: 'hmac',
  secrets: ['HOOK_SECRET'],
  header: 'X-Signature',
  algorithm: 'sha512',
  encoding: 'base64',
};
const none: WebhookVerification = { scheme: 'none' };

async function serverWith(webhooks: Readonly<Record<string, WebhookVerification>>): Promise<WebhookServer> {
  const server = await webhookServer();
  await server.setVariable('HOOK_SECRET', 'secret');
  await server.declare(webhooks);
  return server;
}

const deliveriesOf = async (server: WebhookServer): Promise<{ id: string; runs: string[] }[]> =>
  (await server.ask('/api/v1/webhook-deliveries')).body.data;

describe('a valid request', () => {
  test('is stored as it was received, and starts a run with its content', async () => {
    const server = await serverWith({ pushes: github });
    const body = '{ "ref": "refs/heads/main",  "n": 1.0, "nul": "\\u0000" }';
    const reply = await server.send('pushes', github, {
      id: 'd-1',
      body,
      headers: { 'x-github-event': 'push', cookie: 'a=b', authorization: 'Basic eDp5' },
    });
    expect(reply).toMatchObject({
      status: 200,
      body: { id: expect.stringMatching(/^whd_/), isDuplicate: false },
    });

    const { body: delivery } = await server.ask(`/api/v1/webhook-deliveries/${reply.body.id}`);
    expect(delivery).toMatchObject({
      id: reply.body.id,
      webhook: 'pushes',
      senderId: 'd-1',
      bytes: body.length,
      rawBody: body,
      isBase64Encoded: false,
      headers: { 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': 'd-1' },
      runs: [{ taskIdentifier: 'pushes', status: 'QUEUED' }],
    });
    expect(delivery.headers).not.toHaveProperty('cookie');
    expect(delivery.headers).not.toHaveProperty('authorization');

    const { body: run } = await server.ask(`/api/v3/runs/${delivery.runs[0].id}`);
    expect(run).toMatchObject({
      taskIdentifier: 'pushes',
      payload: {
        id: 'd-1',
        webhook: 'pushes',
        deliveryId: reply.body.id,
        receivedAt: delivery.receivedAt,
        headers: delivery.headers,
        body: { ref: 'refs/heads/main', n: 1, nul: '\0' },
        rawBody: body,
        isBase64Encoded: false,
      },
    });
  });

  test.each([
    { type: 'application/json', body: 'null', parsed: null },
    { type: 'application/json; charset=utf-8', body: '[1]', parsed: [1] },
    { type: 'application/cloudevents+json', body: '{"a":1}', parsed: { a: 1 } },
    { type: 'application/json', body: '{not json', parsed: '{not json' },
    { type: 'application/json', body: `${'['.repeat(5_000)}${']'.repeat(5_000)}`, parsed: /^\[{5000}/ },
    { type: 'text/plain', body: '{"a":1}', parsed: '{"a":1}' },
    { type: 'application/octet-stream', body: 'text', parsed: 'text' },
    {
      type: 'application/x-www-form-urlencoded',
      body: 'a=1&b=%20x&b=2&__proto__=p',
      parsed: { a: '1', b: [' x', '2'], ['__proto__']: 'p' },
    },
    { type: 'image/png', body: Buffer.from([0x89, 0xff, 0x00]), parsed: null },
    { type: 'text/plain', body: '', parsed: '' },
  ])('of type $type has a body parsed by its type', async ({ type, body, parsed }) => {
    const server = await serverWith({ pushes: github });
    const reply = await server.send('pushes', github, { body, headers: { 'content-type': type } });
    expect(reply.status).toBe(200);
    const [delivery] = await deliveriesOf(server);
    const { body: run } = await server.ask(`/api/v3/runs/${delivery?.runs[0]}`);
    const bytes = Buffer.from(body);
    const isBase64Encoded = type === 'image/png';
    expect(run.payload).toMatchObject({
      rawBody: bytes.toString(isBase64Encoded ? 'base64' : 'utf8'),
      isBase64Encoded,
    });
    if (parsed instanceof RegExp) expect(run.payload.body).toMatch(parsed);
    else expect(run.payload.body).toEqual(parsed);
  });

  test('takes the options of the task', async () => {
    const server = await webhookServer();
    await server.setVariable('HOOK_SECRET', 'secret');
    await server.declare({ pushes: github }, { queue: { name: 'inbox' }, ttl: 90, maxDuration: 60 });
    await server.send('pushes', github, { body: '{}' });
    const [delivery] = await deliveriesOf(server);
    const { body: run } = await server.ask(`/api/v3/runs/${delivery?.runs[0]}`);
    expect(run).toMatchObject({ ttl: '1m30s', queue: 'inbox' });
  });
});

describe('a repeated request', () => {
  test.each([
    { name: 'of GitHub, with its id', verification: github, body: '{}', id: 'd-1' },
    { name: 'of Stripe, signed again', verification: stripe, body: '{"id":"evt_1"}', id: '' },
    { name: 'of Slack, with its event id', verification: slack, body: '{"event_id":"Ev1"}', id: '' },
    { name: 'of a sender without ids', verification: hmac, body: '{"n":1}', id: '' },
  ])('$name is answered with the first delivery, and starts no run', async ({ verification, body, id }) => {
    const server = await serverWith({ hook: verification });
    const first = await server.send('hook', verification, { body, id, at: server.now() - 200_000 });
    expect(first.body.isDuplicate).toBe(false);
    // A provider that retries for an hour signs each attempt with the time of the attempt.
    const again = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        server.send('hook', verification, { body, id, at: server.now() - n * 10_000 }),
      ),
    );
    for (const reply of again)
      expect(reply).toMatchObject({ status: 200, body: { id: first.body.id, isDuplicate: true } });
    expect(await deliveriesOf(server)).toMatchObject([{ id: first.body.id, runs: [expect.any(String)] }]);
    expect((await server.ask('/api/v1/runs')).body.data).toHaveLength(1);
  });

  test('with another id, or for another webhook, is another delivery', async () => {
    const server = await serverWith({ first: github, second: github });
    for (const [webhook, id] of [
      ['first', 'a'],
      ['first', 'b'],
      ['second', 'a'],
    ] as const)
      expect((await server.send(webhook, github, { body: '{}', id })).body.isDuplicate).toBe(false);
    expect(await deliveriesOf(server)).toHaveLength(3);
  });

  test('of a webhook without verification is another delivery, unless a header has its id', async () => {
    const withId: WebhookVerification = { scheme: 'none', idHeader: 'X-Id' };
    const server = await serverWith({ open: none, named: withId });
    for (const isDuplicate of [false, false])
      expect((await server.send('open', none, { body: '{}' })).body).toMatchObject({ isDuplicate });
    for (const isDuplicate of [false, true])
      expect((await server.send('named', withId, { body: '{}', id: 'x' })).body).toMatchObject({
        isDuplicate,
      });
    const deliveries = (await server.ask('/api/v1/webhook-deliveries')).body.data;
    expect(deliveries.map(({ senderId }: { senderId: string }) => senderId)).toEqual(['x', null, null]);
  });

  test('has an id of any length', async () => {
    const server = await serverWith({ hook: github });
    const id = 'x'.repeat(5_000);
    for (const isDuplicate of [false, true])
      expect((await server.send('hook', github, { body: '{}', id })).body).toMatchObject({ isDuplicate });
  });
});

describe('a rejected request', () => {
  test('is counted with its reason, and not stored; a repeated request is counted with its delivery', async () => {
    const server = await ownWebhookServer();
    await server.setVariable('HOOK_SECRET', 'secret');
    await server.declare({ payments: stripe });
    const url = await server.urlOf('payments');
    const body = '{"id":"evt_1"}';

    const wrong = await server.send('payments', stripe, { body, secret: 'another' });
    expect(wrong).toMatchObject({ status: 401 });
    expect(wrong.headers.get('x-millrace-error-code')).toBe('webhook_signature_invalid');
    const unsigned = await server.post(url, body);
    expect(unsigned.status).toBe(401);
    expect(unsigned.headers.get('x-millrace-error-code')).toBe('webhook_signature_missing');
    for (const ms of [-301_000, 301_000]) {
      const old = await server.send('payments', stripe, { body, at: server.now() + ms });
      expect(old).toMatchObject({ status: 400 });
      expect(old.headers.get('x-millrace-error-code')).toBe('webhook_timestamp_invalid');
    }
    expect(await deliveriesOf(server)).toEqual([]);
    expect((await server.ask('/api/v1/runs')).body.data).toEqual([]);

    const listed = async () => (await server.ask('/api/v1/webhooks')).body.data[0];
    expect(await listed()).toMatchObject({ lastDeliveryAt: null, lastDay: { failed: 0 } });
    const accepted = await server.send('payments', stripe, { body });
    for (let n = 0; n < 3; n++) await server.send('payments', stripe, { body });
    await expect.poll(listed, { timeout: 15_000 }).toMatchObject({
      rejected: 4,
      lastRejection: { code: 'webhook_timestamp_invalid' },
      lastDeliveryAt: expect.any(String),
      lastDay: {
        rejections: [
          { code: 'webhook_timestamp_invalid', count: 2 },
          { code: 'webhook_signature_invalid', count: 1 },
          { code: 'webhook_signature_missing', count: 1 },
        ],
      },
    });
    const deliveries = async () => (await server.ask('/api/v1/webhook-deliveries')).body.data;
    await expect
      .poll(deliveries, { timeout: 15_000 })
      .toMatchObject([{ id: accepted.body.id, repeated: 3, status: 'QUEUED' }]);
    expect(JSON.stringify(server.logged)).not.toContain('secret"');
  });

  test('is still rejected when it is replayed after its time', async () => {
    const server = await ownWebhookServer();
    await server.setVariable('HOOK_SECRET', 'secret');
    await server.declare({ payments: stripe });
    const at = server.now();
    const send = () => server.send('payments', stripe, { body: '{"id":"evt_1"}', at });
    expect((await send()).body.isDuplicate).toBe(false);
    expect((await send()).body.isDuplicate).toBe(true);
    server.shiftTime(301_000);
    expect((await send()).status).toBe(400);
  });

  test('gets 404 for an unknown address, and for one that the current version does not declare', async () => {
    const server = await serverWith({ first: none, second: none });
    const url = await server.urlOf('second');
    for (const address of ['x', 'wh_00000000000000000000', '%00', 'wh_'.repeat(1_000)]) {
      const reply = await server.post(`${server.url}/webhooks/v1/${address}`, '{}');
      expect(reply.status).toBe(404);
      expect(reply.headers.get('x-millrace-error-code')).toBe('webhook_not_found');
    }
    await server.declare({ first: none });
    await expect.poll(async () => (await server.post(url, '{}')).status).toBe(404);
    expect((await fetch(url)).status).toBe(404);
  });

  test('gets 413 for a large body', async () => {
    const server = await serverWith({ hook: none });
    const url = await server.urlOf('hook');
    expect((await server.post(url, Buffer.alloc(webhookBodyLimit, 'x'))).status).toBe(200);
    for (const bytes of [webhookBodyLimit + 1, 10_485_760]) {
      const reply = await server.post(url, Buffer.alloc(bytes, 'x'));
      expect(reply.status).toBe(413);
      expect(reply.headers.get('x-millrace-error-code')).toBe('too_large');
    }
    expect(await deliveriesOf(server)).toHaveLength(1);
  });

  test('gets 503 while the secret is not set', async () => {
    const server = await webhookServer();
    await server.declare({ hook: github });
    const reply = await server.send('hook', github, { body: '{}' });
    expect(reply.status).toBe(503);
    expect(reply.headers.get('x-millrace-error-code')).toBe('webhook_secret_missing');
    expect((await server.ask('/api/v1/webhooks')).body.data[0].secrets).toEqual([
      { name: 'HOOK_SECRET', isSet: false },
    ]);
    await server.setVariable('HOOK_SECRET', 'secret');
    await expect.poll(async () => (await server.send('hook', github, { body: '{}' })).status).toBe(200);
  });

  test('gets 429 above the rate limits', async () => {
    const server = await ownWebhookServer({
      rateLimits: { webhooks: { burst: 3, perSecond: 0.01 }, openRequests: { burst: 2, perSecond: 0.01 } },
    });
    await server.setVariable('HOOK_SECRET', 'secret');
    await server.declare({ hook: github, other: github });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) {
      const reply = await server.send('hook', github, { body: '{}' });
      statuses.push(reply.status);
      if (reply.status === 429) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await server.send('other', github, { body: '{}' })).status).toBe(200);

    const wrong: number[] = [];
    for (let n = 0; n < 3; n++)
      wrong.push((await server.send('other', github, { body: '{}', secret: 'x' })).status);
    expect(wrong).toEqual([401, 401, 429]);
    // Only rejected requests count.
    expect((await server.send('other', github, { body: '{}' })).status).toBe(200);
  });
});

test('during a rotation, both secrets are valid; afterwards, the old one is not', async () => {
  const server = await serverWith({ payments: stripe });
  const status = async (secret: string): Promise<number> =>
    (await server.send('payments', stripe, { body: `{"id":"${crypto.randomUUID()}"}`, secret })).status;
  expect(await status('next')).toBe(401);
  await server.setVariable('HOOK_SECRET_NEXT', 'next');
  await expect.poll(() => status('next')).toBe(200);
  expect(await status('secret')).toBe(200);
  await server.setVariable('HOOK_SECRET', 'next');
  await expect.poll(() => status('secret')).toBe(401);
  expect(await status('next')).toBe(200);
});

test("Slack's verification of an address is answered, and starts nothing", async () => {
  const server = await serverWith({ chat: slack });
  const body = '{"type":"url_verification","challenge":"abc"}';
  expect(await server.send('chat', slack, { body })).toMatchObject({
    status: 200,
    body: { challenge: 'abc' },
  });
  expect((await server.send('chat', slack, { body, secret: 'another' })).status).toBe(401);
  expect(await deliveriesOf(server)).toEqual([]);
});

test('an address is the same in every version, and differs between environments and webhooks', async () => {
  const server = await serverWith({ first: none, second: none });
  const urls = async (key?: string) =>
    (await server.ask('/api/v1/webhooks', key === undefined ? {} : { key })).body.data.map(
      ({ url }: { url: string }) => url,
    ) as string[];
  const before = await urls();
  expect(new Set(before).size).toBe(2);
  await server.declare({ second: none });
  expect(await urls()).toEqual(before.slice(1));
  await server.declare({ first: github, second: none });
  expect(await urls()).toEqual(before);
  expect(await urls(server.keys.stg)).toEqual([]);
});

describe('a replay', () => {
  test('starts a run with the same payload on the current or on another version', async () => {
    const server = await webhookServer();
    const old = await server.declare({ hook: none });
    const { body: delivery } = await server.send('hook', none, { body: '{"n":1}' });
    const current = await server.declare({ hook: none, another: none });
    const replay = (body?: unknown) =>
      server.ask(`/api/v1/webhook-deliveries/${delivery.id}/replay`, { method: 'POST', body });
    const [first, second] = [await replay(), await replay({ version: old })];
    expect(first).toMatchObject({ status: 200, body: { id: delivery.id } });
    const { body: replayed } = await server.ask(`/api/v1/webhook-deliveries/${delivery.id}`);
    expect(replayed.runs).toHaveLength(3);
    const runs = await Promise.all(
      [replayed.runs[0].id, first.body.run, second.body.run].map(
        async (id) => (await server.ask(`/api/v3/runs/${id}`)).body,
      ),
    );
    expect(runs.map(({ payload }) => payload)).toEqual([runs[0].payload, runs[0].payload, runs[0].payload]);
    expect(runs[2].version ?? runs[2].lockedToVersion).toBe(old);
    expect(current).not.toBe(old);
  });

  test('is rejected for an unknown delivery, an unknown version, and a version without the webhook', async () => {
    const server = await webhookServer();
    const without = await server.declare({ another: none });
    await server.declare({ hook: none });
    const { body: delivery } = await server.send('hook', none, { body: '{}' });
    const replay = (id: string, version?: string) =>
      server.ask(`/api/v1/webhook-deliveries/${id}/replay`, { method: 'POST', body: { version } });
    expect((await replay('whd_x')).status).toBe(404);
    expect((await replay('%00')).status).toBe(404);
    for (const version of ['20200101.1', without])
      expect([404, 422]).toContain((await replay(delivery.id, version)).status);
    expect((await server.ask(`/api/v1/webhook-deliveries/${delivery.id}`)).body.runs).toHaveLength(1);
  });
});

test('deliveries are listed by webhook, in pages, newest first', async () => {
  const server = await serverWith({ first: none, second: none });
  const ids: string[] = [];
  for (const webhook of ['first', 'second', 'first'])
    ids.unshift((await server.send(webhook, none, { body: '{}' })).body.id);
  const list = async (query: string) => (await server.ask(`/api/v1/webhook-deliveries?${query}`)).body;
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
  expect(idsOf(await list(''))).toEqual(ids);
  expect(idsOf(await list('filter[webhook]=second'))).toEqual([ids[1]]);
  const page = await list('page[size]=2');
  expect(idsOf(page)).toEqual(ids.slice(0, 2));
  expect(idsOf(await list(`page[size]=2&page[after]=${page.pagination.next}`))).toEqual(ids.slice(2));
  expect((await server.ask('/api/v1/webhook-deliveries?page[after]=x')).status).toBe(400);
});
