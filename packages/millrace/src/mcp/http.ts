import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import { createFactory, type McpOptions } from './server.ts';

export interface HttpOptions extends McpOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The token that callers must send as `Authorization: Bearer …`. */
  readonly token: string;
  /** Additional host names under which it is reachable. */
  readonly allowedHosts: readonly string[];
}

export interface McpHttpServer {
  /** The URL for clients. */
  readonly url: string;
  close(): Promise<void>;
}

const path = '/mcp';

/** Serves Streamable HTTP. Rejects if it cannot listen on the port. */
export async function serveOnHttp(options: HttpOptions): Promise<McpHttpServer> {
  const handler = createMcpHandler(createFactory(options));
  const isAllowed = guard(options);
  const server = createServer((request, response) => {
    answer(handler, isAllowed, request, response).catch(() => response.destroy());
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}${path}`,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

interface Refusal {
  readonly status: number;
  readonly error: string;
}

/**
 * Checks Host, Origin and token. A web page that a user has open can send requests to this machine, even under its own host name if that
 * resolves to this machine. In that case, Host contains that name, and Origin that of the page.
 */
function guard({
  host: own,
  token,
  allowedHosts,
}: HttpOptions): (request: IncomingMessage) => Refusal | undefined {
  const hosts = [...localhostAllowedHostnames(), own, ...allowedHosts];
  const digest = digestOf(`Bearer ${token}`);
  return ({ headers, url = '' }) => {
    if (!validateHostHeader(headers.host, hosts).ok) {
      const error = `The host ${JSON.stringify(headers.host ?? '')} is not allowed; start millrace mcp with --allow-host to allow it`;
      return { status: 403, error };
    }
    if (!validateOriginHeader(headers.origin, hosts).ok) {
      const error = `Pages from ${JSON.stringify(headers.origin)} may not call millrace mcp; start it with --allow-host to allow that`;
      return { status: 403, error };
    }
    if (!timingSafeEqual(digestOf(headers.authorization ?? ''), digest)) {
      const error =
        'The token is missing or wrong: send the one that millrace mcp was started with, as Authorization: Bearer …';
      return { status: 401, error };
    }
    if (url.split('?', 1)[0] !== path) return { status: 404, error: `Only ${path} is served here` };
    return undefined;
  };
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

async function answer(
  handler: McpHttpHandler,
  isAllowed: ReturnType<typeof guard>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = isAllowed(request);
  if (refusal) {
    const { status, error } = refusal;
    request.resume();
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    });
    response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message: error }, id: null }));
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { status, headers, body } = await handler.fetch(webRequest(request, gone.signal));
  response.writeHead(status, Object.fromEntries(headers));
  if (body) await pipeline(Readable.fromWeb(body as never), response);
  else response.end();
}

function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers, url = path } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers: pairs,
    signal,
    ...(hasBody && { body: Readable.toWeb(request) as never, duplex: 'half' }),
  });
}
