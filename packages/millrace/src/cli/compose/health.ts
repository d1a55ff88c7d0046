import { createServer } from 'node:http';
import type { ListenAddress } from '../options.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';

/** Runners become ready within seconds. */
const retryAfterSeconds = '2';

export interface Health {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the health checks of a runner: `/healthz` while the process is alive, `/readyz` while it accepts runs. `notReady` returns the
 * reason why it does not accept runs; undefined if it does.
 */
export async function serveHealth(
  { host, port }: ListenAddress,
  notReady: () => string | undefined,
): Promise<Health> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    const reason = path === '/readyz' ? notReady() : undefined;
    const [status, body] =
      path === '/healthz'
        ? [200, { status: 'ok' }]
        : path !== '/readyz'
          ? [404, { error: 'Not found: use /healthz or /readyz' }]
          : reason === undefined
            ? [200, { status: 'ready' }]
            : [503, { error: reason }];
    response
      .writeHead(status, {
        'content-type': 'application/json',
        ...(status === 503 && { 'retry-after': retryAfterSeconds }),
      })
      .end(JSON.stringify(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  }).catch((error: Error) => {
    throw new CommandFailed(
      exitCodes.cannotStart,
      `The health endpoint cannot listen on ${host}:${port} (${error.message}). Choose another with --health-port.`,
    );
  });
  const bound = server.address();
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${typeof bound === 'object' && bound ? bound.port : port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
