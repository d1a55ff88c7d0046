import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { ownSessionServer, type SessionServer } from '../sessions/session-server.ts';
import { testServer } from '../support/server.ts';

const limits = { unauthenticatedMs: 1_500, maxUnauthenticated: 20, idleMs: 1_500 };
/** The time until all these connections have ended, with a margin for a busy machine. */
const lateMs = 5_000;

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.resume();
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

const isOpen = (socket: Socket | ClientHttp2Session): boolean => !socket.destroyed && !socket.closed;

function openHttp2(url: string): ClientHttp2Session {
  const session = connectHttp2(url);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Opens a stream of an append session. Returns its status. */
async function append(session: ClientHttp2Session, path: string, token: string) {
  const stream = session.request({ ':method': 'POST', ':path': path, authorization: `Bearer ${token}` });
  stream.on('error', () => {});
  stream.resume();
  const status = await new Promise<number | undefined>((resolve) => {
    stream.once('response', (headers) => resolve(headers[':status']));
    stream.once('close', () => resolve(undefined));
  });
  return { stream, status };
}

async function appendTarget(server: SessionServer): Promise<{ path: string; token: string }> {
  const { publicAccessToken } = await server.start({ externalId: 'a' });
  const { headers } = await server.ask('/realtime/v1/sessions/a/in', {
    method: 'PUT',
    key: publicAccessToken,
  });
  return {
    path: `/s2/v1/streams/${headers.get('x-s2-stream-name')}/records`,
    token: headers.get('x-s2-access-token') ?? '',
  };
}

describe('a connection without a successful request', { timeout: 60_000 }, () => {
  test('ends after a while despite further data, over HTTP/1.1 and HTTP/2', async () => {
    const server = await testServer({ connectionLimits: limits });
    const { port, url } = server;
    const silent = await open(port);
    const slow = await open(port);
    const refused = await open(port);
    const cut = await open(port);
    cut.write('PRI * HT');
    const prefaced = await open(port);
    prefaced.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const idle = openHttp2(url);
    const pinging = openHttp2(url);
    const asking = openHttp2(url);
    const all = { silent, slow, refused, cut, prefaced, idle, pinging, asking };
    let done = false;
    slow.write('GET /api/v1/runs HTTP/1.1\r\nHost: x\r\n');
    const talking = (async () => {
      for (let n = 0; !done; n++) {
        if (isOpen(slow)) slow.write(`x-${n}: 1\r\n`);
        if (isOpen(refused)) refused.write('GET /api/v1/runs HTTP/1.1\r\nHost: x\r\n\r\n');
        if (isOpen(pinging)) pinging.ping(() => {});
        // A stream that is never ended by its writer.
        if (isOpen(asking)) void append(asking, '/s2/v1/streams/eA/records', 'nobody');
        await pause(200);
      }
    })();
    await pause(lateMs);
    done = true;
    await talking;
    const stillOpen = Object.entries(all).flatMap(([name, each]) => (isOpen(each) ? [name] : []));
    expect(stillOpen).toEqual([]);
  });

  test('is closed when there are too many, while connections with a successful request stay open', async () => {
    const server = await testServer({ connectionLimits: { ...limits, unauthenticatedMs: 60_000 } });
    const proven = await open(server.port);
    const answered = new Promise((resolve) => proven.once('data', resolve));
    proven.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await answered;
    const others: (Socket | ClientHttp2Session)[] = [];
    for (let n = 0; n < 60; n++) others.push(n % 2 ? await open(server.port) : openHttp2(server.url));
    await expect
      .poll(() => others.filter(isOpen).length, { timeout: 10_000 })
      .toBeLessThanOrEqual(limits.maxUnauthenticated);
    expect(isOpen(proven)).toBe(true);
    // A client with a valid key is served anyway.
    expect((await server.ask('/api/v1/runs')).status).toBe(200);
  });
});

describe('an append session over HTTP/2', { timeout: 60_000 }, () => {
  test('stays open without a time limit, and its connection ends a while after it', async () => {
    const server = await ownSessionServer({ connectionLimits: limits });
    const { path, token } = await appendTarget(server);
    const session = openHttp2(server.url);
    const { stream, status } = await append(session, path, token);
    expect(status).toBe(200);
    await pause(lateMs);
    expect([isOpen(session), stream.closed]).toEqual([true, false]);
    stream.close(constants.NGHTTP2_CANCEL);
    const pinging = setInterval(() => isOpen(session) && session.ping(() => {}), 200);
    onTestFinished(() => clearInterval(pinging));
    await expect.poll(() => isOpen(session), { timeout: lateMs }).toBe(false);
  });

  test('ends when it is rejected, even if its writer never ends it', async () => {
    const server = await ownSessionServer();
    const { path } = await appendTarget(server);
    const session = openHttp2(server.url);
    const { stream, status } = await append(session, path, 'nobody');
    expect(status).toBe(401);
    await expect.poll(() => stream.closed, { timeout: lateMs }).toBe(true);
  });

  test('has a connection that may ping and change its settings a limited number of times', async () => {
    const server = await ownSessionServer();
    const { path, token } = await appendTarget(server);
    for (const flood of ['ping', 'settings'] as const) {
      const session = openHttp2(server.url);
      await append(session, path, token);
      for (let n = 0; n < 5; n++) await new Promise((resolve) => session.ping(resolve));
      expect(isOpen(session)).toBe(true);
      for (let n = 0; n < 400 && isOpen(session); n++) {
        if (flood === 'ping') session.ping(() => {});
        else session.settings({ initialWindowSize: 65_535 + n });
        if (n % 5 === 0) await pause(2);
      }
      await expect.poll(() => isOpen(session), { timeout: lateMs }).toBe(false);
    }
  });
});

describe('an HTTP/2 connection that opens no append session', { timeout: 60_000 }, () => {
  const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  /** `GET http://a/healthz`, compressed as HPACK. */
  const headers = Buffer.concat([Buffer.from([0x82, 0x86, 0x04, 8]), Buffer.from('/healthz\u0001\u0001a')]);
  const opening = (stream: number): Buffer => frame(1, 5, stream, headers);
  const reset = (stream: number): Buffer => frame(3, 0, stream, Buffer.from([0, 0, 0, 8]));

  test.each([
    ['resets each stream that it opens', (stream: number) => Buffer.concat([opening(stream), reset(stream)])],
    ['is rejected on each stream', opening],
  ])('ends when it %s', async (_, attempt) => {
    const server = await ownSessionServer();
    const { path, token } = await appendTarget(server);
    const socket = await open(server.port);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(4, 0, 0));
    let opened = 0;
    while (isOpen(socket) && opened < 1_000) {
      socket.write(Buffer.concat(Array.from({ length: 50 }, () => attempt(opened++ * 2 + 1))));
      await pause(2);
    }
    await expect.poll(() => isOpen(socket), { timeout: lateMs }).toBe(false);
    // Append sessions of others continue.
    expect((await append(openHttp2(server.url), path, token)).status).toBe(200);
  });

  test('stays open when it opens and cancels many append sessions', async () => {
    const server = await ownSessionServer();
    const { path, token } = await appendTarget(server);
    const session = openHttp2(server.url);
    for (let n = 0; n < 300; n++) {
      const { stream, status } = await append(session, path, token);
      expect(status).toBe(200);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    expect(isOpen(session)).toBe(true);
  });
});

test(
  'an event stream and a runner connection outlive all of these timeouts',
  { timeout: 60_000 },
  async () => {
    const server = await ownSessionServer({ connectionLimits: limits });
    await server.start({ externalId: 'a' });
    const reader = await server.follow('a/out');
    const runner = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${server.keys.prod}` },
    });
    onTestFinished(() => runner.terminate());
    await new Promise((resolve, reject) => runner.once('open', resolve).once('error', reject));
    await pause(lateMs);
    await server.append('a', 'out', 'late');
    expect(await reader.records(1)).toHaveLength(1);
    expect(runner.readyState).toBe(WebSocket.OPEN);
    await reader.cancel();
  },
);
