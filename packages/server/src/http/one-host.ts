import type { FastifyInstance } from 'fastify';
import { badRequest } from '../problem.ts';

/**
 * Whether a request names one host at most. With two of them a proxy may have looked at the other one than we do. `rawHeaders` are
 * names and values in turn, as Node gives them; `target` is what a request of HTTP/1.1 asks for.
 */
export function namesOneHost(rawHeaders: readonly string[], target = '/'): boolean {
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
  // `GET http://host/path`, as it is sent to a proxy.
  const absolute = target.startsWith('/') ? null : /^[a-z]+:\/\/([^/?#]*)/i.exec(target);
  return absolute === null || host === undefined || absolute[1]?.toLowerCase() === host;
}

export const twoHosts = () =>
  badRequest('The request names more than one host: send one Host header, the same as the address');

export function refuseTwoHosts(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { rawHeaders, url } = request.raw;
    if (namesOneHost(rawHeaders, request.originalUrl ?? url)) return done();
    request.arrivedAt = performance.now();
    done(twoHosts());
  });
}
