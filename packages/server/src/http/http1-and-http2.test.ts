import { createServer } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp1AndHttp2 } from './http1-and-http2.ts';
import { UnauthenticatedConnections } from './unauthenticated-connections.ts';

async function both(): Promise<{ port: number; stop(): void; open(): Promise<Socket> }> {
  const http = createServer(async (request, response) => {
    response.end(`1.1 ${request.method} ${await text(request)}`);
  });
  const http2 = createHttp2();
  http2.on('stream', (stream, headers) => {
    stream.respond({ ':status': 200 });
    stream.end(`2 ${headers[':method']}`);
  });
  const unauthenticated = new UnauthenticatedConnections();
  const { stop } = serveHttp1AndHttp2(http, http2, unauthenticated);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  onTestFinished(() => {
    stop();
    unauthenticated.stop();
    http.closeAllConnections();
    http.close();
  });
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    onTestFinished(() => void socket.destroy());
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  };
  return { port, stop, open };
}

const request = (method: string, more = ''): string => `${method} / HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** Sends a text in pieces that arrive one by one; returns the response up to the peer's close. */
async function sendPieces(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<string> {
  const answer = text(socket);
  for (const piece of pieces) {
    socket.write(piece);
    await pause(20);
  }
  return answer;
}

test('one port serves both protocols, for any method and however the first bytes are split', async () => {
  const { port, open } = await both();
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method,
      ...(method !== 'GET' && { body: 'a body' }),
    });
    expect(await response.text()).toBe(`1.1 ${method} ${method === 'GET' ? '' : 'a body'}`);
  }
  const whole = request('POST', 'Connection: close\r\nContent-Length: 2\r\n');
  for (const cut of [1, 2, 3, 5]) {
    const pieces = [whole.slice(0, cut), whole.slice(cut), 'hi'];
    expect(await sendPieces(await open(), pieces)).toMatch(/1\.1 POST hi$/);
  }

  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const stream = session.request({ ':method': 'POST', ':path': '/' });
  stream.end();
  expect(await text(stream)).toBe('2 POST');
  session.close();
  const socket = await open();
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  const first = new Promise<Buffer>((resolve) => socket.once('data', resolve));
  for (const piece of ['P', 'R', 'I * HTTP/2.0\r\n\r\nSM\r\n\r\n', settings]) {
    socket.write(piece);
    await pause(20);
  }
  // These are the server's own settings, as the fourth byte shows.
  expect((await first)[3]).toBe(4);
});

test('consecutive requests on one connection are all answered', async () => {
  const { open } = await both();
  const socket = await open();
  const last = request('GET', 'Connection: close\r\n');
  const answers = await sendPieces(socket, [request('GET') + request('GET'), request('GET'), last]);
  expect(answers.match(/1\.1 GET/g)).toHaveLength(4);
});

test('a silent connection is closed when the server closes', async () => {
  const { stop, open } = await both();
  const socket = await open();
  await pause(20);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  stop();
  await closed;
});
