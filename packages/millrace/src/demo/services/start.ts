import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { services, shareOf, type ServiceRequest } from './faults.ts';

export interface RunningServices {
  /** The address of a service. */
  readonly address: (service: string) => string;
  close(): Promise<void>;
}

/** Starts the services that the shop depends on, on a free port of this machine. */
export async function startServices(): Promise<RunningServices> {
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: (service) => `http://127.0.0.1:${port}/${service}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(pathname) ?? [];
  const service = services[name];
  const sent = await text(request);
  if (!service) {
    response.writeHead(404).end();
    return;
  }
  const body = (sent === '' ? {} : JSON.parse(sent)) as ServiceRequest['body'];
  const { status, body: reply, fault } = service({ path: rest, query, body });
  // The caller gives up.
  if (fault === 'silence') return;
  await pause(5 + 40 * shareOf(`${pathname}${sent}`));
  if (fault === 'reset') {
    response.destroy();
    return;
  }
  const isText = typeof reply === 'string';
  response
    .writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json' })
    .end(isText ? reply : JSON.stringify(reply));
}
