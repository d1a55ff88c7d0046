import type { FastifyReply, FastifyRequest } from 'fastify';

/** How long a client may continue sending after the response. */
const graceMs = 5_000;

/**
 * Drains the rest of a rejected body, so that the response arrives. Closing a connection with unread data resets it, so the client would
 * see a broken connection and retry instead of seeing the error.
 */
export function drainBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  if (raw.complete || raw.destroyed) return;
  // Without this header the connection stays open after the response.
  reply.removeHeader('connection');
  raw.resume();
  const late = setTimeout(() => raw.destroy(), graceMs).unref();
  raw.once('close', () => clearTimeout(late));
}
