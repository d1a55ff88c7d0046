/** Turns every error into a response. */
import { errorCodes, type ErrorCode } from '@millrace/contract/plain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTransient } from '../db/errors.ts';
import type { Log } from '../logger.ts';
import { asProblem, Problem } from '../problem.ts';
import { apiHeaders, corsHeaders } from './headers.ts';
import { failureHeaders } from '../failure-headers.ts';
import { drainBody } from './drain-body.ts';

const internal = new Problem('internal_error', 'Internal Server Error');
const noWrites = new Problem(
  'unavailable',
  'The database does not accept writes at the moment. Try again.',
  {},
  true,
);

/**
 * Responds with the Problem's status and body. Any other error is logged in full and never returned: the response is 500, or 503 if the
 * database rejected a write that it may accept later.
 */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, error: unknown, log: Log): void {
  const problem = problemOf(error);
  const refused = problem === undefined && isTransient(error);
  const { url, config } = request.routeOptions;
  if (problem === undefined) {
    // Headers set by the handler belong to the failed response and may be the cause.
    for (const name of Object.keys(reply.getHeaders())) {
      if (!name.startsWith('x-ratelimit-')) reply.removeHeader(name);
    }
    log.error('request.failed', {
      requestId: request.id,
      method: request.method,
      route: url,
      err: error,
    });
  }
  const { code, status, message, extra, retry } = problem ?? (refused ? noWrites : internal);
  if (status >= 500) reply.header('x-request-id', request.id);
  if (status < 500) drainBody(request, reply);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  // Clients retry a 409 unless told otherwise, and every 409 here is final.
  const mayRetry = retry ?? (status === 409 ? false : undefined);
  if (mayRetry !== undefined) reply.header('x-should-retry', String(mayRetry));
  if (config.cors) reply.headers(corsHeaders);
  config.observed?.observe(status, performance.now() - request.arrivedAt);
  // 401 and 403 have the same body on every operation.
  const fields = status === 401 || status === 403 ? undefined : config.failure;
  reply.headers(failureHeaders(code, message, status));
  sendJson(reply, status, JSON.stringify({ ...fields, error: message, ...extra }));
}

/** Responds with an error that is not a Problem of an operation. */
export function sendError(reply: FastifyReply, code: ErrorCode, error: string): void {
  reply.headers(failureHeaders(code, error));
  sendJson(reply, errorCodes[code].statuses[0], JSON.stringify({ error }));
}

export function sendJson(reply: FastifyReply, status: number, text: string): void {
  reply.statusCode = status;
  reply.headers(apiHeaders).header('content-type', 'application/json; charset=utf-8').send(text);
}

/** The Problem for an error; undefined for an internal error. */
function problemOf(error: unknown): Problem | undefined {
  const known = asProblem(error);
  if (known || !(error instanceof Error)) return known;
  // JSON.parse has no depth limit, unlike JSON.stringify and other recursive code.
  if (error instanceof RangeError && error.message === 'Maximum call stack size exceeded') {
    return new Problem('invalid_request', 'The request is nested too deeply');
  }
  const { code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('too_large', 'Request body too large');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('invalid_request', 'Request body does not match its Content-Length');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('unsupported_media_type', 'Content-Type is not supported: send application/json');
    case 'FST_ERR_BAD_URL':
      return new Problem('invalid_request', 'The path is not a valid URL: check its percent-encoding');
    case 'ECONNRESET':
      return new Problem('invalid_request', 'The connection ended before the request was complete');
    default:
      // Fastify's own errors (a protocol error, a closing server) carry a status.
      return typeof code === 'string' && code.startsWith('FST_') && isClientStatus(statusCode)
        ? new Problem('invalid_request', error.message, {}, undefined, statusCode)
        : undefined;
  }
}

const isClientStatus = (status: unknown): status is number =>
  typeof status === 'number' && status >= 400 && status < 500;
