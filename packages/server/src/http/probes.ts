import type { FastifyInstance } from 'fastify';
import type { HttpMetrics } from './metrics.ts';
import { sendJson } from './problem.ts';
import { refuseReader, type MetricsOptions } from './serve-metrics.ts';

/** How long `/readyz` waits for the database before it says no. */
const patienceMs = 2_000;

/** What machines ask of a process: whether it lives, whether it can serve, how it fares. */
export function mountProbes(
  app: FastifyInstance,
  isReady: () => Promise<unknown>,
  pausedSince: () => Date | null,
  metrics: HttpMetrics,
  readers: MetricsOptions,
): void {
  /** Paused is ready: reads are served, and what is triggered is taken. */
  const answer = (status: string): string => {
    const since = pausedSince();
    return JSON.stringify({ status, ...(since && { paused: true, pausedAt: since.toISOString() }) });
  };

  app.get('/healthz', (_, reply) => sendJson(reply, 200, answer('ok')));

  app.get('/readyz', (_, reply) => {
    const tooLong = new Promise((_resolve, reject) => {
      setTimeout(reject, patienceMs).unref();
    });
    Promise.race([isReady(), tooLong]).then(
      () => sendJson(reply, 200, answer('ready')),
      () => sendJson(reply, 503, '{"error":"The database does not answer"}'),
    );
  });

  // Served elsewhere, they are not here.
  if (readers.address) return;
  app.get('/metrics', async (request, reply) => {
    const refusal = refuseReader(request.raw, readers);
    if (refusal) return sendJson(reply, refusal.status, JSON.stringify({ error: refusal.error }));
    return reply.header('content-type', metrics.contentType).send(await metrics.text());
  });
}
