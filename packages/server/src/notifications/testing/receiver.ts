import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The status of the next responses. Default 204. */
  answer: (request: Received) => number | Promise<number>;
  types(): string[];
  close(): Promise<void>;
}

/** A real HTTP server that receives notifications. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const delivery = {
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text) as Received['body'],
      };
      received.push(delivery);
      void Promise.resolve(receiver.answer(delivery)).then((status) => {
        response.statusCode = status;
        response.setHeader('location', '/elsewhere');
        response.end('thank you');
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: () => 204,
    types: () => received.map(({ body }) => body.type).toSorted(),
    close,
  };
  onTestFinished(close);
  return receiver;
}

/** Throws unless the Standard Webhooks library accepts the request's signature for the secret. */
export const verify = (secret: string, { text, headers }: Received): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>);
