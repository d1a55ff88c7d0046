import { hash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorCodes, type ErrorCode } from '@millrace/contract/plain';
import { failureHeaders } from '../failure-headers.ts';
import type { HttpMetrics } from './metrics.ts';

/** Access to the metrics, and their address. */
export interface MetricsOptions {
  /** Serve on this address instead of the server's own port. */
  readonly address?: { readonly host: string; readonly port: number };
  /** Required as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Maximum number of tasks, and of queues, with separate series; the rest share `other`. Default 200. */
  readonly maxNames?: number | undefined;
}

/** The server cannot listen on the metrics address. */
class MetricsRefused extends Error {
  override name = 'MetricsRefused';
}

interface Refusal {
  readonly code: ErrorCode;
  readonly error: string;
}

type Asking = Pick<IncomingMessage, 'headers'> & { readonly socket: { readonly remoteAddress?: string } };

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
const loopback = /^(?:::ffff:)?127\.|^::1$/;

/** Whether a proxy forwarded the request. */
const isForwarded = ({ headers }: Asking): boolean =>
  ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'via'].some(
    (name) => headers[name] !== undefined,
  );

/**
 * Why a request may not read the metrics; undefined if it may. Without a token, the public port responds only to this machine, because the
 * load and health of a server are not public.
 */
export function refuseReader(request: Asking, { address, token }: MetricsOptions): Refusal | undefined {
  if (token !== undefined) {
    const [, sentToken = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
    return timingSafeEqual(digest(sentToken), digest(token))
      ? undefined
      : { code: 'invalid_credential', error: 'The metrics require MILLRACE_METRICS_TOKEN as a bearer token' };
  }
  if (address || (loopback.test(request.socket.remoteAddress ?? '') && !isForwarded(request)))
    return undefined;
  return {
    code: 'unauthorized',
    error:
      'The metrics are available only from this machine. Set MILLRACE_METRICS_TOKEN, or MILLRACE_METRICS_ADDRESS for a separate port.',
  };
}

/** Serves the metrics on a separate address. */
export async function serveMetrics(
  metrics: HttpMetrics,
  options: MetricsOptions & Required<Pick<MetricsOptions, 'address'>>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { host, port } = options.address;
  const server = createServer((request, response) => {
    const answer = (status: number, headers: Readonly<Record<string, string>>, body: string | Buffer): void =>
      void response.writeHead(status, headers).end(body);
    const refuse = (code: ErrorCode, error: string): void =>
      answer(
        errorCodes[code].statuses[0],
        { 'content-type': 'application/json; charset=utf-8', ...failureHeaders(code, error) },
        JSON.stringify({ error }),
      );
    if (request.url?.split('?')[0] !== '/metrics')
      return refuse('route_not_found', 'Not found: only /metrics is served here');
    const refusal = refuseReader(request, options);
    if (refusal) return refuse(refusal.code, refusal.error);
    metrics.expose(request.headers.accept).then(
      ({ type, body }) => answer(200, { 'content-type': type }, body),
      () => refuse('internal_error', 'Internal Server Error'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  }).catch((error: Error) => {
    throw new MetricsRefused(
      `The metrics cannot be served at ${host}:${port} (${error.message}). Choose another MILLRACE_METRICS_ADDRESS.`,
    );
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
