import type { FastifyReply, FastifyRequest } from 'fastify';
import { jsonOfReply } from '../json/response.ts';
import type { Log } from '../logger.ts';
import type { Admission } from './admission.ts';
import { costOf, shareOf } from './admission-cost.ts';
import { forbidden, Problem } from '../problem.ts';
import { Streaming } from '../request.ts';
import { apiHeaders, corsHeaders } from './headers.ts';
import { withBody, type Answer, type IdempotentResponses } from './idempotent-responses.ts';
import { sendFailure, sendJson } from './problem.ts';
import { requestReader, type ReaderDependencies } from './request-reader.ts';
import type { HttpRequest } from './request.ts';
import type { Route } from './route.ts';
import { refusedText } from './validate.ts';

export interface AnswerDependencies extends ReaderDependencies {
  readonly log: Log;
  readonly responses: IdempotentResponses;
  readonly admission: Admission;
}

/** @param leave called early if the rest of the request is not work for the server */
type Respond = (raw: FastifyRequest, reply: FastifyReply, leave: () => void) => Promise<void>;

/** Returns a function that waits for admission, reads a request, calls the handler of its operation, and sends the result. */
export function answer(
  route: Route,
  dependencies: AnswerDependencies,
): (raw: FastifyRequest, reply: FastifyReply) => void {
  const { streams = false, bodyStream } = route.declaration;
  const respond = streams ? streamed(route, dependencies) : replied(route, dependencies);
  const { admission, log } = dependencies;
  const cost = costOf(route.declaration);
  return (raw, reply) => {
    const fail = (error: unknown): void => sendFailure(raw, reply, error, log);
    const start = (leave: () => void): void => {
      // The duration of an upload depends on the client.
      if (bodyStream) leave();
      respond(raw, reply, leave)
        .finally(leave)
        // Drains the unread body.
        .finally(() => bodyStream && raw.raw.resume())
        .catch(fail)
        // The error response could not be sent either.
        .catch(() => raw.raw.destroy());
    };
    const share = shareOf(raw.principal, raw.ip);
    admission.enter(share, cost(raw), start, fail, () => raw.raw.socket.destroyed);
  };
}

/** Sends JSON: for a repeated request, the response to the first one. */
function replied(route: Route, dependencies: AnswerDependencies): Respond {
  const { status = 200, storesRequestKey = false } = route.declaration;
  const read = requestReader(route, dependencies);

  async function answerOf(request: HttpRequest): Promise<Answer> {
    const text = jsonOfReply(await act(route, request)) ?? 'null';
    return { text, headers: request.headersSet, status: request.status };
  }

  async function answerOnce(raw: FastifyRequest, reply: FastifyReply, leave: () => void): Promise<Answer> {
    const request = await read(raw, reply, leave);
    const { responseKey: key } = request;
    if (key === undefined || storesRequestKey) return answerOf(request);
    const stored = await dependencies.responses.once(withBody(key, raw.body), () => answerOf(request));
    for (const [name, value] of stored.headers) reply.header(name, value);
    return stored;
  }

  return async (raw, reply, leave) => {
    const { text, status: own = status } = await answerOnce(raw, reply, leave);
    sendJson(reply, own, text);
    route.observed.observe(own, performance.now() - raw.arrivedAt);
  };
}

/** Hands the connection to the handler's stream. */
function streamed(route: Route, dependencies: AnswerDependencies): Respond {
  const { id, status = 200 } = route.declaration;
  const read = requestReader(route, dependencies);
  return async (raw, reply, leave) => {
    const request = await read(raw, reply, leave);
    const streaming = await act(route, request);
    if (!(streaming instanceof Streaming))
      throw new TypeError(`The handler of ${id} did not return a stream.`);
    const { socket, httpVersionMinor } = raw.raw;
    // The client disconnected during the checks.
    if (socket.destroyed) return;
    reply.hijack();
    route.observed.observe(status, performance.now() - raw.arrivedAt);
    streaming.open({
      socket,
      isHttp10: httpVersionMinor === 0,
      headers: { ...apiHeaders, ...(route.cors && corsHeaders), ...Object.fromEntries(request.headersSet) },
      whileAllowed: (ended) => (raw.principal ? dependencies.access.watch(raw.principal, ended) : () => {}),
    });
  };
}

/** Calls the handler. */
async function act({ declaration: { id }, handler }: Route, request: HttpRequest): Promise<unknown> {
  const result = await handler(request).catch((thrown: unknown) => {
    const { params: where, query: requested, body: sent } = request;
    const error = refusedText(thrown, { where, requested, sent }) ?? thrown;
    // A caller without access to an object must not find out whether it exists.
    throw !request.authorized && error instanceof Problem && error.status === 404 ? forbidden() : error;
  });
  if (!request.authorized)
    throw new TypeError(`The handler of ${id} answered without authorizing its object.`);
  return result;
}
