import type { FastifyInstance } from 'fastify';
import type { HttpMetrics } from './metrics.ts';
import { sendError, sendJson } from './problem.ts';
import { NotReady } from './readiness.ts';
import { refuseReader, type MetricsOptions } from './serve-metrics.ts';

/** How long `/readyz` waits for the database. */
const readyTimeoutMs = 2_000;

/** Mounts `/healthz` (alive), `/readyz` (can serve) and `/metrics`. */
export function mountProbes(
  app: FastifyInstance,
  isReady: () => Promise<unknown>,
  pausedSince: () => Date | null,
  metrics: HttpMetrics,
  readers: MetricsOptions,
): void {
  /** A paused installation is ready: it serves reads and accepts triggers. */
  const answer = (status: string): string => {
    const since = pausedSince();
    return JSON.stringify({ status, ...(since && { paused: true, pausedAt: since.toISOString() }) });
  };

  app.get('/healthz', (_, reply) => sendJson(reply, 200, answer('ok')));

  app.get('/readyz', (_, reply) => {
    const timeout = new Promise((_resolve, reject) => {
      setTimeout(reject, readyTimeoutMs).unref();
    });
    Promise.race([isReady(), timeout]).then(
      () => sendJson(reply, 200, answer('ready')),
      (reason: unknown) => {
        const error = reason instanceof NotReady ? reason.message : 'The database does not respond';
        sendError(reply, 'unavailable', error);
      },
    );
  });

  // If metrics have a separate address, they are not served here.
  if (readers.address) return;
  app.get('/metrics', async (request, reply) => {
    const refusal = refuseReader(request.raw, readers);
    if (refusal) return sendError(reply, refusal.code, refusal.error);
    const { type, body } = await metrics.expose(request.headers.accept);
    return reply.header('content-type', type).send(body);
  });
}
