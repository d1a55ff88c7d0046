/** The one place where a failure becomes an answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTransient } from '../db/errors.ts';
import type { Log } from '../logger.ts';
import { asProblem, Problem } from '../problem.ts';
import { apiHeaders, corsHeaders } from './headers.ts';
import { readRest } from './rest-of-body.ts';

const internal = new Problem(500, 'Internal Server Error');
const takesNothing = new Problem(503, 'The database takes nothing in at the moment. Try again.', {}, true);

/**
 * Answers with the Problem's status and body. Anything else is a fault: logged whole, never shown, and answered 500, or 503 if the database
 * refused what it may take later.
 */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, error: unknown, log: Log): void {
  const problem = problemOf(error);
  const refused = problem === undefined && isTransient(error);
  const { url, config } = request.routeOptions;
  if (problem === undefined) {
    // What the handler had set so far belongs to an answer that never came to be, and may be the fault itself.
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
  const { status, message, extra, retry } = problem ?? (refused ? takesNothing : internal);
  if (status >= 500) reply.header('x-request-id', request.id);
  if (status < 500) readRest(request, reply);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  // Clients repeat a 409 unless told otherwise, and every one of ours is final.
  const mayRepeat = retry ?? (status === 409 ? false : undefined);
  if (mayRepeat !== undefined) reply.header('x-should-retry', String(mayRepeat));
  if (config.cors) reply.headers(corsHeaders);
  config.observed?.observe(status, performance.now() - request.arrivedAt);
  // Whoever may not do it gets the one answer to that, wherever it was.
  const fields = status === 401 || status === 403 ? undefined : config.failure;
  sendJson(reply, status, JSON.stringify({ ...fields, error: message, ...extra }));
}

export function sendJson(reply: FastifyReply, status: number, text: string): void {
  reply.statusCode = status;
  reply.headers(apiHeaders).header('content-type', 'application/json; charset=utf-8').send(text);
}

/** The Problem behind an error; undefined for a fault of ours. */
function problemOf(error: unknown): Problem | undefined {
  const known = asProblem(error);
  if (known !== undefined) return known;
  if (!(error instanceof Error)) return undefined;
  // What JSON.parse reads at any depth, JSON.stringify and whatever else walks it cannot.
  if (error instanceof RangeError && error.message === 'Maximum call stack size exceeded') {
    return new Problem(400, 'The request is nested too deeply');
  }
  const { code, statusCode, detail } = error as Error & {
    code?: unknown;
    statusCode?: unknown;
    detail?: unknown;
  };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(413, 'Request body too large');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem(400, 'Request body does not have the length that Content-Length says');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(415, 'Content-Type cannot be read: send application/json');
    case 'FST_ERR_BAD_URL':
      return new Problem(400, 'The path is not a valid URL: check its percent-encoding');
    // PostgreSQL's names for a NUL, in a text and in JSON. Nothing has such an id or such a name.
    case '22021':
    case '22P05':
      return new Problem(
        400,
        'The request holds a NUL character (\\u0000), which cannot be stored: take it out',
      );
    // All the JSON that it is given was written by us, but for what texts hold.
    case '22P02':
      return typeof detail === 'string' && detail.includes('surrogate')
        ? new Problem(
            400,
            'The request holds half of a surrogate pair (such as \\ud800), which is no character: take it out',
          )
        : undefined;
    case 'ECONNRESET':
      return new Problem(400, 'The connection ended before the request did');
    default:
      // What the framework refuses (a protocol error, a closing server) carries its status.
      return typeof code === 'string' && code.startsWith('FST_') && isClientStatus(statusCode)
        ? new Problem(statusCode, error.message)
        : undefined;
  }
}

const isClientStatus = (status: unknown): status is number =>
  typeof status === 'number' && status >= 400 && status < 500;
