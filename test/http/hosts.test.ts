import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { testServer } from '../support/server.ts';

/** The status line and body of the response to a request that is sent verbatim. */
const raw = (port: number, lines: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write([...lines, 'Connection: close', '', ''].join('\r\n'));
  });

test('rejects every request that names two hosts', async () => {
  const server = await testServer();
  const { port } = new URL(server.url);
  const to = Number(port);
  const key = `Authorization: Bearer ${server.keys.prod}`;
  const get = (path: string, ...more: string[]) => raw(to, [`GET ${path} HTTP/1.1`, ...more, key]);
  const own = `127.0.0.1:${port}`;
  const refusal = /^HTTP\/1\.1 400 [^]*names more than one host/;
  for (const path of ['/api/v1/runs', '/healthz', '/api/v1/timezones', '/nothing', '/packets/v1/x']) {
    expect(await get(path, `Host: ${own}`, 'Host: other.example')).toMatch(refusal);
    expect(await get(path, `Host: ${own}`, `hOST: ${own}`)).toMatch(refusal);
    expect(await get(`http://other.example${path}`, `Host: ${own}`)).toMatch(refusal);
  }
  expect(await get('/api/v1/runs', `Host: ${own}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await get(`http://${own}/api/v1/runs`, `Host: ${own}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await get('/api/v1/runs')).toMatch(/^HTTP\/1\.1 400 /);
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  const runner = await raw(to, [
    'GET /runner/v1/connect HTTP/1.1',
    `Host: ${own}`,
    'Host: b',
    key,
    ...upgrade,
  ]);
  expect(runner).toMatch(/^HTTP\/1\.1 400 /);
});

test('requires the same authority and host in HTTP/2', async () => {
  const server = await testServer();
  const session = connectHttp2(server.url);
  const statusOf = (headers: Record<string, string | string[]>): Promise<number> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': '/nothing', ':method': 'POST', ...headers });
      stream.on('response', (answer) => resolve(answer[':status'] ?? 0));
      stream.on('error', reject);
      stream.end();
    });
  const { host } = new URL(server.url);
  expect(await statusOf({ host: 'other.example', ':authority': host })).toBe(400);
  const fine = await statusOf({ host, ':authority': host });
  expect([fine, await statusOf({ ':authority': host })]).toEqual([404, 404]);
  session.destroy();
});
