import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** A string is sent verbatim, everything else as JSON. */
  readonly body?: unknown;
}

export interface HttpServer {
  readonly url: string;
  readonly received: Received[];
  readonly server: http.Server;
  close(): Promise<void>;
}

/** A real HTTP server with programmed responses that records its requests. */
export async function startServer(
  answer: (request: Received) => Answer | Promise<Answer>,
): Promise<HttpServer> {
  const received: Received[] = [];
  const handle = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const seen: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    received.push(seen);
    const { status = 200, headers = {}, body } = await answer(seen);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  };
  const server = http.createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
