import { request } from 'node:http';
import { operations, type OperationDeclaration } from '@millrace/contract';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { networkOf } from '../../packages/server/src/http/address-limit.ts';
import { createBadCredentialLimit } from '../../packages/server/src/http/bad-credentials.ts';
import { Problem, unauthorized } from '../../packages/server/src/problem.ts';
import { WebSocket } from 'ws';
import { installation } from './installation.ts';

const limit = { rateLimits: { badCredentials: { burst: 5, perSecond: 0.5 } } };

const statusOfRunner = (url: string, key: string) =>
  new Promise<number>((resolve) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${key}` },
    });
    socket.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode));
    socket.on('error', () => {});
  });

describe('wrong credentials', () => {
  test('are limited by address; correct credentials from the same address are not', async () => {
    const { ask, keys, keyWith, server } = await installation(limit);
    const wrong = (n: number) =>
      ask('GET /api/v1/runs', { key: `svc_prod_sk_${String(n).padStart(24, '0')}` });
    const statuses: number[] = [];
    for (let n = 0; n < 8; n++) statuses.push((await wrong(n)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const refused = await wrong(9);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('x-should-retry')).toBe('false');
    // A credential that was never used before, in between.
    const fresh = await keyWith(['read:runs']);
    const [good, new_] = await Promise.all([
      ask('GET /api/v1/runs', { key: keys.prod }),
      ask('GET /api/v1/runs', { key: fresh }),
      ...Array.from({ length: 20 }, (_, n) => wrong(100 + n)),
    ]);
    expect([good.status, new_.status]).toEqual([200, 200]);
    // Missing permissions of a correct credential do not count as a wrong credential.
    expect((await ask('POST /api/v1/orgs', { key: keys.prod, body: { name: 'x' } })).status).toBe(401);
    // A client cannot choose the address that its requests count for.
    const lied = await ask('GET /api/v1/runs', { key: 'x', headers: { 'x-forwarded-for': '8.8.8.8' } });
    expect(lied.status).toBe(429);
    const runners: number[] = [];
    for (let n = 0; n < 7; n++) runners.push(await statusOfRunner(server.url, 'svc_prod_sk_x'));
    expect(runners).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  test('are unknown credentials, not valid ones that are misused', async () => {
    const { ask, keys, server } = await installation(limit);
    const preview = (branch?: string) =>
      ask('GET /api/v1/runs', {
        key: keys.preview,
        ...(branch !== undefined && { headers: { 'x-service-branch': branch } }),
      });
    for (let n = 0; n < 8; n++) {
      expect(await preview()).toMatchObject({
        status: 401,
        body: {
          error: expect.stringMatching(/^x-service-branch header required .*--branch/) as string,
        },
      });
      expect(await preview(`none-${n}`)).toMatchObject({
        status: 401,
        body: { error: expect.stringMatching(/^No matching branch/) as string },
      });
    }
    const { body } = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes: ['read:runs'] },
    });
    for (let n = 0; n < 8; n++) expect(await statusOfRunner(server.url, body.token as string)).toBe(401);
    const unknown = [];
    for (let n = 0; n < 6; n++) unknown.push((await ask('GET /api/v1/runs', { key: 'x' })).status);
    expect(unknown).toEqual([401, 401, 401, 401, 401, 429]);
  });

  test('count for the address that a trusted proxy reports', async () => {
    const { ask } = await installation({ ...limit, trustedProxies: ['127.0.0.1'] });
    const from = async (address: string) =>
      (await ask('GET /api/v1/runs', { key: 'x', headers: { 'x-forwarded-for': address } })).status;
    for (let n = 0; n < 5; n++) expect(await from('192.0.2.1')).toBe(401);
    expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([429, 401]);
    // The address that the proxy itself saw counts, not those that the client wrote before it.
    expect(await from('192.0.2.77, 192.0.2.1')).toBe(429);
  });
});

describe('the count', () => {
  afterEach(() => void vi.useRealTimers());
  const statusOf = (error: unknown) => (error as Problem).status;

  test('recovers over time, covers a whole IPv6 network, and holds at most 10,000 addresses', () => {
    let now = 0;
    const refuse = createBadCredentialLimit({ burst: 2, perSecond: 1 }, () => now);
    const from = (address: string) => statusOf(refuse(unauthorized('no'), address, () => {}));
    expect([from('a'), from('a'), from('a'), from('b')]).toEqual([401, 401, 429, 401]);
    now += 1_000;
    expect([from('a'), from('a')]).toEqual([401, 429]);
    expect([from('2001:db8::1'), from('2001:db8:0:0:5::2'), from('2001:db8::9:3')]).toEqual([401, 401, 429]);
    expect(from('2001:db8:0:1::1')).toBe(401);
    for (let n = 0; n < 10_000; n++) from(`n${n}`);
    expect(from('a')).toBe(401);
    expect(statusOf(refuse(new Problem('unauthorized', 'no'), 'a', () => {}))).toBe(403);
    const fault = new Error('fault');
    expect(refuse(fault, 'a', () => {})).toBe(fault);
  });

  test.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ])('%s is in the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('requests without a credential', () => {
  const operationsWithBody = Object.values<OperationDeclaration>(operations).filter(
    ({ id, access, body }) => access.open && body && id !== 'completeWaitpointByCallback',
  );

  /** The status that arrives before any byte of the body is sent. */
  const statusBeforeBody = (url: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': 1_000 },
      });
      sent.on('response', ({ statusCode = 0 }) => {
        resolve(statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });

  test('have a body of at most 8 KiB', async () => {
    const { ask } = await installation();
    expect(operationsWithBody.map(({ id }) => id).toSorted()).toEqual([
      'createAuthorizationCode',
      'createBrowserSession',
      'exchangeAuthorizationCode',
      'joinByInvitation',
    ]);
    for (const { path } of operationsWithBody) {
      const large = await ask(`POST ${path}`, { key: '', body: '['.repeat(8_193) });
      expect([path, large.status]).toEqual([path, 413]);
      const deep = await ask(`POST ${path}`, { key: '', body: '['.repeat(8_192) });
      expect([path, deep.status]).toEqual([path, 400]);
    }
  });

  test('count against a limit of their address before their body is read', async () => {
    const { ask, keys, server } = await installation({
      rateLimits: { openRequests: { burst: 4, perSecond: 0.5 } },
    });
    for (const { path } of operationsWithBody) {
      expect([400, 404]).toContain((await ask(`POST ${path}`, { key: '', body: '{"a":' })).status);
    }
    for (const { path } of operationsWithBody) {
      expect([path, await statusBeforeBody(server.url, path)]).toEqual([path, 429]);
    }
    const refused = await ask('POST /api/v1/token', { key: '', body: {} });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.body.error).toBe(
      'Too many requests without a credential from this address. Try again in 2 s.',
    );
    expect((await ask('GET /api/v1/runs', { key: keys.prod })).status).toBe(200);
    expect((await ask('GET /api/v1/timezones', { key: '' })).status).toBe(200);
  });

  test('to a wrong callback address count, before their body is read', async () => {
    const { ask, keys, server } = await installation({
      rateLimits: { openRequests: { burst: 3, perSecond: 0.5 } },
    });
    const callback = async () => {
      const { body } = await ask('POST /api/v1/waitpoints/tokens', { key: keys.prod, body: {} });
      return new URL(body.url as string).pathname;
    };
    const right = await callback();
    const wrong = right.slice(0, -1) + (right.endsWith('a') ? 'b' : 'a');
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push(await statusBeforeBody(server.url, wrong));
    expect(statuses).toEqual([404, 404, 404, 429, 429]);
    const large = { text: 'x'.repeat(1_000_000) };
    for (const path of [right, await callback(), await callback()]) {
      expect((await ask(`POST ${path}`, { key: '', body: large })).body).toEqual({ success: true });
    }
  });
});
