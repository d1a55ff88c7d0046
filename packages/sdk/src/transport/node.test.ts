import net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startServer, type HttpServer } from '../testing/http-server.ts';
import { send as sendByFetch } from './fetch.ts';
import { send as sendByNode } from './node.ts';
import type { HttpRequest } from './transport.ts';

const open: { close(): Promise<void> }[] = [];
const started = async (...args: Parameters<typeof startServer>): Promise<HttpServer> => {
  const server = await startServer(...args);
  open.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const request = (baseURL: string, changes: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  baseURL,
  path: '/a?b=%2F',
  headers: { authorization: 'Bearer k' },
  body: undefined,
  timeoutMs: 5_000,
  ...changes,
});

for (const [kind, send] of [
  ['node:http', sendByNode],
  ['fetch', sendByFetch],
] as const) {
  test(`${kind} sends method, path, headers and body, and reads status, headers and body`, async () => {
    const server = await started(() => ({ status: 418, headers: { 'x-one': '1' }, body: { pot: 'tée' } }));
    const reply = await send(request(`${server.url}/prefix`, { method: 'POST', body: '{"a":"é"}' }));
    expect(reply.status).toBe(418);
    expect(reply.header('x-one')).toBe('1');
    expect(reply.header('x-two')).toBeUndefined();
    expect(reply.text).toBe('{"pot":"tée"}');
    expect(server.received).toMatchObject([
      { method: 'POST', path: '/prefix/a?b=%2F', body: { a: 'é' }, headers: { authorization: 'Bearer k' } },
    ]);
  });

  test(`${kind} rejects when nothing listens on the port`, async () => {
    const server = await startServer(() => ({}));
    await server.close();
    await expect(send(request(server.url))).rejects.toBeInstanceOf(Error);
  });

  test(`${kind} gives up on a server that does not respond`, async () => {
    const server = await started(() => new Promise(() => {}));
    await expect(send(request(server.url, { timeoutMs: 20 }))).rejects.toThrow('no reply within 0.02 s');
  });

  test(`${kind} rejects a reply that breaks off`, async () => {
    const server = net.createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
    const { port } = server.address() as net.AddressInfo;
    await expect(send(request(`http://127.0.0.1:${port}`))).rejects.toBeInstanceOf(Error);
  });
}

test('node:http uses one connection for calls that follow each other', async () => {
  const server = await started(() => ({ body: {} }));
  let connections = 0;
  server.server.on('connection', () => (connections += 1));
  for (let call = 0; call < 5; call += 1) await sendByNode(request(server.url));
  expect(connections).toBe(1);
});

test('node:http retries immediately when the server has closed the idle connection', async () => {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    const isFirst = sockets.push(socket) === 1;
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      // The first connection replies once, then is reset during the second request.
      if (isFirst && requests === 2) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  });
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  await sendByNode(request(url));
  expect(await sendByNode(request(url))).toMatchObject({ status: 200, text: '{}' });
  expect(sockets).toHaveLength(2);
});
