/**
 * Puts every operation behind its path. The order of checks is the contract's: 405, 401, 413, parameters, query and body
 * (400), scopes (403), handler. What does not change between requests is worked out here, once a route.
 */
import type { OperationDeclaration } from '@millrace/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Principal } from '../auth/principal.ts';
import type { Log } from '../log.ts';
import { forbidden } from '../problem.ts';
import type { Handler } from '../request.ts';
import { admit, covers } from './authorize.ts';
import { corsHeaders } from './headers.ts';
import type { HttpMetrics, RouteMetrics } from './metrics.ts';
import { mountOtherMethods } from './other-methods.ts';
import { sendFailure, sendJson } from './problem.ts';
import {
  bucketOf,
  createRateLimiter,
  sendRateExceeded,
  setRateHeaders,
  type RateLimit,
} from './rate-limit.ts';
import { refuseUnfitOperations } from './refuse.ts';
import { HttpRequest } from './request.ts';
import { readBody, readPart } from './validate.ts';

export interface MountOptions {
  readonly operations: Readonly<Record<string, OperationDeclaration>>;
  readonly handlers: Readonly<Record<string, Handler<OperationDeclaration>>>;
  /** Operations whose handlers call `request.authorize` for every object themselves. */
  readonly authorizing: readonly string[];
  readonly authenticate: Authenticate;
  readonly rateLimit: RateLimit | undefined;
  readonly metrics: HttpMetrics;
  readonly log: Log;
}

interface Route {
  readonly declaration: OperationDeclaration;
  readonly handler: Handler<OperationDeclaration>;
  readonly authorizing: boolean;
  readonly cors: boolean;
  readonly observed: RouteMetrics;
}

const defaultBodyLimit = 1024 * 1024;

export function mountOperations(app: FastifyInstance, options: MountOptions): void {
  const { operations, handlers, authorizing } = options;
  refuseUnfitOperations(operations, handlers, authorizing);
  const limit = options.rateLimit && limiter(options.rateLimit);
  const routes = Object.entries(operations).map(([name, declaration]): Route => {
    const handler = handlers[name];
    if (!handler) throw new TypeError(`${name} has no handler.`);
    const cors = declaration.cors ?? declaration.access.publicToken === true;
    const observed = options.metrics.route(declaration.method, declaration.path);
    return { declaration, handler, authorizing: authorizing.includes(name), cors, observed };
  });
  for (const route of routes) {
    const { method, path: url, bodyLimit = defaultBodyLimit } = route.declaration;
    app.route({
      method,
      url,
      bodyLimit,
      config: { cors: route.cors, observed: route.observed },
      onRequest: callerCheck(route, options, limit),
      handler: answer(route, options),
    });
  }
  mountOtherMethods(
    app,
    routes.map(({ declaration, cors }) => ({ method: declaration.method, path: declaration.path, cors })),
  );
}

type Limiter = (principal: Principal, reply: FastifyReply) => boolean;

function limiter(rateLimit: RateLimit): Limiter {
  const take = createRateLimiter(rateLimit);
  return (principal, reply) => {
    const verdict = take(bucketOf(principal));
    setRateHeaders(reply, rateLimit, verdict);
    if (!verdict.allowed) sendRateExceeded(reply, rateLimit, verdict);
    return verdict.allowed;
  };
}

/** Before the body is read: who is calling, with what kind of credential. Nothing waits when the caller is known. */
function callerCheck(
  { declaration: { access, path }, cors }: Route,
  { authenticate, log }: MountOptions,
  limit: Limiter | undefined,
): onRequestHookHandler {
  const limited = path.startsWith('/api') ? limit : undefined;

  function admitCaller(
    principal: Principal,
    request: FastifyRequest,
    reply: FastifyReply,
    done: () => void,
  ): void {
    admit(principal, access);
    request.principal = principal;
    if (limited !== undefined && !limited(principal, reply)) return;
    done();
  }

  return (request, reply, done) => {
    request.arrivedAt = performance.now();
    if (cors) reply.headers(corsHeaders);
    if (access.open) return done();
    const { headers } = request;
    try {
      const principal = authenticate({
        authorization: headers.authorization,
        serviceBranch: headers['x-service-branch'] as string | undefined,
        triggerBranch: headers['x-trigger-branch'] as string | undefined,
      });
      if (!(principal instanceof Promise)) return admitCaller(principal, request, reply, done);
      principal
        .then((known) => admitCaller(known, request, reply, done))
        .catch((error: unknown) => sendFailure(request, reply, error, log));
    } catch (error) {
      sendFailure(request, reply, error, log);
    }
  };
}

function answer(route: Route, { log }: MountOptions) {
  const { declaration, handler, authorizing, observed } = route;
  const { access, params, query, body, bodyOptional = false, status = 200 } = declaration;

  async function reply(raw: FastifyRequest, to: FastifyReply): Promise<string> {
    const values = {
      params: params === undefined ? undefined : readPart(params, raw.params, 'Params Error'),
      query: query === undefined ? undefined : readPart(query, raw.query, 'Query Error'),
      body: body === undefined ? undefined : readBody(body, raw.body as string | undefined, bodyOptional),
    };
    const authorized =
      raw.principal === null || covers(raw.principal, access, raw.params as Record<string, string>);
    if (!authorized && !authorizing) throw forbidden();
    const request = new HttpRequest(raw, to, access, authorized, values);
    const result = await handler(request);
    if (!request.authorized) {
      throw new TypeError(`The handler of ${declaration.id} answered without authorizing its object.`);
    }
    return JSON.stringify(result) ?? 'null';
  }

  return (raw: FastifyRequest, to: FastifyReply): void => {
    reply(raw, to)
      .then((text) => {
        sendJson(to, status, text);
        observed.observe(status, performance.now() - raw.arrivedAt);
        return undefined;
      })
      .catch((error: unknown) => sendFailure(raw, to, error, log))
      // Not even the failure could be told.
      .catch(() => raw.raw.destroy());
  };
}
