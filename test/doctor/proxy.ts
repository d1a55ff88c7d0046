import { once } from 'node:events';
import { createServer, request, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ProxyFaults {
  /** Forwards upgrades as ordinary requests. */
  readonly dropsUpgrades?: boolean;
  /** Forwards replies when they are complete. */
  readonly buffers?: boolean;
  /** Sends the server the proxy's own name for it. */
  readonly changesHost?: boolean;
  /** Returns 502 for requests of these paths. */
  readonly breaks?: readonly string[];
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A proxy in front of a server, until the test ends. It names the client, as proxies do. */
export async function startProxy(target: string, faults: ProxyFaults = {}): Promise<string> {
  const { hostname, port } = new URL(target);
  const headersOf = (headers: NodeJS.Dict<string | string[]>, from = ''): NodeJS.Dict<string | string[]> => ({
    ...headers,
    ...(faults.changesHost && { host: `${hostname}:${port}` }),
    ...(faults.tls && { 'x-forwarded-proto': 'https' }),
    'x-forwarded-for': from.startsWith('127.') ? '203.0.113.7' : from,
  });
  const pass: RequestListener = (incoming, outgoing) => {
    if (faults.breaks?.includes(incoming.url ?? '')) {
      outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
      return;
    }
    const {
      upgrade: _,
      connection: __,
      ...headers
    } = headersOf(incoming.headers, incoming.socket.remoteAddress);
    const sent = request(
      { hostname, port, path: incoming.url, method: incoming.method, headers, agent: false },
      (reply) => {
        reply.on('error', () => outgoing.destroy());
        if (!faults.buffers) {
          outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(outgoing);
          return;
        }
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('end', () => {
          const { 'transfer-encoding': ___, ...rest } = reply.headers;
          outgoing.writeHead(reply.statusCode ?? 502, rest).end(Buffer.concat(chunks));
        });
      },
    );
    outgoing.on('close', () => sent.destroy());
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  };
  const server = faults.tls ? createTlsServer(faults.tls, pass) : createServer(pass);
  if (!faults.dropsUpgrades)
    server.on('upgrade', (incoming, socket, head: Buffer) => {
      const upstream = connect(Number(port), hostname, () => {
        const headers = Object.entries(headersOf(incoming.headers, incoming.socket.remoteAddress));
        const lines = headers.map(([name, value]) => `${name}: ${String(value)}\r\n`);
        upstream.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `${faults.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
