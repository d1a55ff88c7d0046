/**
 * The addresses that a browser visits to log in with an identity provider. They respond with redirects, or with a page that shows the error.
 */
import { hash } from 'node:crypto';
import { errorCodes, type ErrorCode } from '@millrace/contract/plain';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../logger.ts';
import { asProblem, badRequest } from '../problem.ts';
import type { Origin } from '../request.ts';
import { baseUrlOf } from './base-url.ts';
import { failureHeaders } from '../failure-headers.ts';
import { sendFailure } from './problem.ts';

interface Visit {
  readonly baseUrl: string;
  readonly origin: Origin;
  readonly cookie: string | undefined;
  readonly search: string;
}

/** The next address of the browser, and the cookie to store. Both reject with a Problem for the reader. */
export interface OidcPages {
  begin(visit: Visit): Promise<{ readonly location: string; readonly cookies: readonly string[] }>;
  finish(visit: Visit): Promise<{ readonly location: string; readonly cookies: readonly string[] }>;
  /** The provider reports that a user has logged out. */
  loggedOut(logoutToken: string, origin: Origin): Promise<void>;
  /** The `Set-Cookie` header that ends the login started by `begin`. */
  forget(baseUrl: string): string;
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;color-scheme:light dark}';

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  // The address of the callback contains the code.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
};

export function mountOidcPages(
  app: FastifyInstance,
  { begin, finish, loggedOut, forget }: OidcPages,
  log: Log,
): void {
  const answer =
    (next: OidcPages['begin'], isLast: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
      const visit = visitOf(request);
      reply.headers(headers);
      try {
        if (!URL.canParse(visit.baseUrl))
          return await sendPage(reply, 'invalid_request', 'The Host header is not a valid server address.');
        const { location, cookies } = await next(visit);
        return await reply
          .header('set-cookie', [...cookies])
          .header('location', location)
          .code(303)
          .send();
      } catch (error) {
        const problem = asProblem(error);
        if (!problem)
          log.error('request.failed', { requestId: request.id, route: request.routeOptions.url, err: error });
        // A failed login is not retried with the same cookie.
        if (isLast) reply.header('set-cookie', forget(visit.baseUrl));
        const { code, message } = problem ?? {
          code: 'internal_error' as const,
          message: `Internal server error. The server log has the details of the request ${request.id}.`,
        };
        return sendPage(reply, code, message, problem?.status);
      }
    };
  // Not for HEAD requests, because a login completed by one would be lost.
  app.get('/login/oidc', { exposeHeadRoute: false }, answer(begin, false));
  app.get('/login/oidc/callback', { exposeHeadRoute: false }, answer(finish, true));
  app.post('/login/oidc/logout', { bodyLimit: 8 * 1_024 }, async (request, reply) => {
    reply.headers(headers);
    try {
      const token = new URLSearchParams(String(request.body ?? '')).get('logout_token');
      if (!token) throw badRequest('logout_token: required, in a form');
      await loggedOut(token, visitOf(request).origin);
      return await reply.code(200).send();
    } catch (error) {
      sendFailure(request, reply, error, log);
      return reply;
    }
  });
}

function visitOf(request: FastifyRequest): Visit {
  const { url = '' } = request.raw;
  const query = url.indexOf('?');
  return {
    baseUrl: baseUrlOf(request),
    origin: {
      requestId: request.id,
      address: request.ip,
      userAgent: request.headers['user-agent']?.slice(0, 256),
    },
    cookie: request.headers.cookie,
    search: query === -1 ? '' : url.slice(query),
  };
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const sendPage = (
  reply: FastifyReply,
  code: ErrorCode,
  sentence: string,
  status: number = errorCodes[code].statuses[0],
) =>
  reply
    .code(status)
    .headers(failureHeaders(code, sentence, status))
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Log in · Millrace</title><style>${style}</style></head>` +
        `<body><main><h1>You are not logged in</h1><p>${escaped(sentence)}</p><p><a href="${escaped(reply.server.basePath)}/login">Go to the login page</a></p></main></body></html>`,
    );
