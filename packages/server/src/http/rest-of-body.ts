import type { FastifyReply, FastifyRequest } from 'fastify';

/** How long a client that is still sending may take to notice the answer. */
const graceMs = 5_000;

/**
 * A body that is refused before its end is read over, so that the answer arrives: to close a connection on what nobody read resets
 * it, and then the client is told of a broken connection, which it repeats, instead of why.
 */
export function readRest(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  if (raw.complete || raw.destroyed) return;
  // With it the connection ends with the answer.
  reply.removeHeader('connection');
  raw.resume();
  const late = setTimeout(() => raw.destroy(), graceMs).unref();
  raw.once('close', () => clearTimeout(late));
}
