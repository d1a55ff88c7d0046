import type { FastifyInstance } from 'fastify';
import { badRequest } from '../problem.ts';

/**
 * Whether a request names at most one host. If it names two, a proxy may have used a different one than the server does. `rawHeaders`
 * alternates names and values, as in Node; `target` is the request target of HTTP/1.1.
 */
export function hasSingleHost(rawHeaders: readonly string[], target = '/'): boolean {
  let host: string | undefined;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const isHost = name.length === 4 && name.toLowerCase() === 'host';
    if (!isHost && name !== ':authority') continue;
    const value = (rawHeaders[at + 1] as string).trim().toLowerCase();
    if (isHost && ++count > 1) return false;
    if (host !== undefined && host !== value) return false;
    host = value;
  }
  // Absolute form, as in `GET http://host/path`.
  const absolute = target.startsWith('/') ? null : /^[a-z]+:\/\/([^/?#]*)/i.exec(target);
  return absolute === null || host === undefined || absolute[1]?.toLowerCase() === host;
}

export const conflictingHosts = () =>
  badRequest('The request names more than one host: send one Host header, the same as the address');

export function refuseConflictingHosts(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { rawHeaders, url } = request.raw;
    if (hasSingleHost(rawHeaders, request.originalUrl ?? url)) return done();
    request.arrivedAt = performance.now();
    done(conflictingHosts());
  });
}
