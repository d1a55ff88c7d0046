import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** The base path of the server, such as `/millrace`; empty for none. */
    readonly basePath: string;
  }
}

/**
 * The URL under which the client reaches this server, without a trailing slash. The headers are set by a proxy that terminates TLS or adds
 * a prefix. A forged value only affects the forger's own response.
 */
export function baseUrlOf(request: FastifyRequest): string {
  const scheme =
    headerOf(request, 'x-forwarded-proto')?.split(',', 1)[0]?.trim() === 'https' ? 'https' : 'http';
  const host = headerOf(request, 'x-forwarded-host')?.split(',', 1)[0]?.trim() ?? request.host;
  const prefix = headerOf(request, 'x-forwarded-prefix')?.replace(/\/+$/, '') ?? request.server.basePath;
  return `${scheme}://${host}${prefix}`;
}

/** The path of a request without the base path, for proxies that do not remove it. */
export const belowBase = (url: string, basePath: string): string =>
  basePath !== '' && url.startsWith(basePath) && /^(?:[/?]|$)/.test(url.slice(basePath.length))
    ? url.slice(basePath.length).replace(/^(?!\/)/, '/')
    : url;

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
