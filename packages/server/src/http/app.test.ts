import { EventEmitter, once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectSocket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { isUser } from '../auth/principal.ts';
import { createInstallation } from '../auth/testing/installation.ts';
import { createSampleApp, sampleHandlers } from './testing/sample-app.ts';

async function listen(app: FastifyInstance): Promise<string> {
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

test('keys grant access over a real socket and a real database', async () => {
  const { addKey, authenticate, credentials, key, mint } = await createInstallation();
  const base = await listen(createSampleApp(authenticate).app);
  const post = async (credential: string, path = '/api/v1/tasks/a%2Fb/echo') => {
    const reply = await fetch(base + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${credential}`,
        'content-type': 'application/json',
        'x-trigger-branch': 'noise',
      },
      body: '{"payload":1}',
    });
    return [reply.status, ((await reply.json()) as { environment?: string }).environment];
  };
  const restricted = await addKey('stg', ['trigger:tasks:a/b']);
  expect(await post(key('prod'))).toEqual([200, 'prod']);
  expect(await post(key('prod').replace('svc_', 'tr_'))).toEqual([200, 'prod']);
  expect(await post(restricted.text)).toEqual([200, 'stg']);
  expect(await post(restricted.text, '/api/v1/tasks/other/echo')).toEqual([403, undefined]);
  expect(await post(credentials.personalAccessToken ?? '')).toEqual([401, undefined]);
  expect(await post(key('preview'))).toEqual([401, undefined]);

  const principal = await authenticate({ authorization: key('prod') });
  if (isUser(principal)) throw new TypeError('a key is not a token');
  const token = await mint(principal, { scopes: ['read:runs:run_1'], expiresInSeconds: 60 });
  const read = (id: string) =>
    fetch(`${base}/api/v1/runs/${id}`, { headers: { authorization: `Bearer ${token}` } }).then(
      (reply) => reply.status,
    );
  expect(await read('run_1')).toBe(200);
  expect(await read('run_2')).toBe(403);
});

test('a truncated or endless body does not affect other requests', async () => {
  const { authenticate, key } = await createInstallation();
  const base = await listen(createSampleApp(authenticate).app);
  const { port } = new URL(base);
  const socket = connectSocket(Number(port), '127.0.0.1');
  socket.write(
    `POST /api/v1/tasks/a/echo HTTP/1.1\r\nhost: x\r\nauthorization: ${key('dev')}\r\ncontent-length: 500\r\n\r\n{"a`,
  );
  await once(socket, 'connect');
  socket.destroy();
  // Chunked, without a length: the limit still applies.
  const sending = httpRequest(`${base}/api/v1/tasks/a/echo`, {
    method: 'POST',
    headers: { authorization: key('dev') },
  });
  sending.on('error', () => {});
  sending.write('x'.repeat(600));
  sending.write('x'.repeat(600));
  const [reply] = (await once(sending, 'response')) as [{ statusCode: number; destroy(): void }];
  expect(reply.statusCode).toBe(413);
  reply.destroy();
  sending.destroy();
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
});

test('requests in progress are finished when the app closes', async () => {
  const { authenticate, key } = await createInstallation();
  const signals = new EventEmitter();
  const begun = once(signals, 'begun');
  const handlers = {
    ...sampleHandlers,
    unruled: async () => {
      signals.emit('begun');
      await once(signals, 'go on');
      return { finished: true };
    },
  };
  const { app } = createSampleApp(authenticate, { handlers });
  const base = await listen(app);
  const { hostname, port } = new URL(base);
  const socket = connectSocket(Number(port), hostname);
  const get = (path: string): boolean =>
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${key('dev')}\r\n\r\n`);
  get('/api/v1/unruled');
  await begun;
  const closed = app.close();
  // It is refused, and may be repeated on another server.
  const refused = once(app.server, 'request');
  get('/healthz');
  await refused;
  signals.emit('go on');
  const [first = '', second = ''] = (await text(socket)).split(/(?=HTTP\/1\.1 503)/);
  expect(first).toMatch(/^HTTP\/1\.1 200[^]*\{"finished":true\}$/);
  expect(second).toMatch(/^retry-after: 2\r$/m);
  expect(second).toMatch(/^x-millrace-error-code: unavailable\r$/m);
  await closed;
  await expect(fetch(`${base}/healthz`)).rejects.toThrow('fetch failed');
});

test('probes, metrics, the OpenAPI document and its page do not require a credential', async () => {
  const { authenticate } = await createInstallation();
  let ready = true;
  const { app } = createSampleApp(authenticate, {
    isReady: () => (ready ? Promise.resolve() : Promise.reject(new Error('gone'))),
  });
  const get = (url: string) => app.inject({ method: 'GET', url });
  expect((await get('/healthz')).statusCode).toBe(200);
  expect((await get('/readyz')).statusCode).toBe(200);
  ready = false;
  expect((await get('/readyz')).statusCode).toBe(503);

  await get('/api/v1/open');
  await get('/api/v1/things');
  const metrics = (await get('/metrics')).body;
  expect(metrics).toContain(
    'millrace_http_request_duration_seconds_count{method="GET",route="/api/v1/open",status="2xx"} 1',
  );
  expect(metrics).toContain(
    'millrace_http_request_duration_seconds_count{method="GET",route="/api/v1/things",status="4xx"} 1',
  );
  expect(metrics).toContain('process_cpu_user_seconds_total');

  const document = (await get('/openapi.json')).json<{ info: { version: string }; paths: object }>();
  expect(document.info.version).toBe('2024-04');
  expect(document.paths).toHaveProperty(['/api/v1/tasks/{taskId}/echo', 'post']);

  const page = await get('/reference/');
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
  // Everything that the page loads is served by this server.
  const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, link = '']) => new URL(link, 'http://here/reference/'),
  );
  expect(assets.length).toBeGreaterThan(3);
  expect(assets.filter(({ host }) => host !== 'here')).toEqual([]);
  const statuses = await Promise.all(
    assets.map(async ({ pathname }) => [pathname, (await get(pathname)).statusCode]),
  );
  expect(statuses).toEqual(assets.map(({ pathname }) => [pathname, 200]));
  expect((await get('/reference/static/swagger-initializer.js')).body).toContain('/openapi.json');
});
