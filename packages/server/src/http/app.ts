import { randomBytes } from 'node:crypto';
import { operations as everyOperation, type OperationDeclaration, type Operations } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import fastify, { type FastifyInstance } from 'fastify';
import type { Authenticate } from '../auth/authenticate.ts';
import type { FindRole } from '../auth/membership.ts';
import type { Log } from '../log.ts';
import type { Handler, HandlersOf } from '../request.ts';
import { createHttpMetrics } from './metrics.ts';
import { mountOperations } from './mount.ts';
import { mountProbes } from './probes.ts';
import { sendFailure, sendJson } from './problem.ts';
import { parseQuery } from './query.ts';
import { defaultRateLimits, type RateLimits } from './rate-limit.ts';
import { mountReference } from './reference.ts';

export interface HttpAppOptions<O extends Record<string, OperationDeclaration> = Operations> {
  /** What is served. Default: every operation of the contract. */
  readonly operations?: O;
  /** One for each operation; the app refuses to be made when one is missing. */
  readonly handlers: HandlersOf<O>;
  readonly authenticate: Authenticate;
  /** A user's role in the organisation that a path leads to. */
  readonly findRole: FindRole;
  /** Resolves when the database answers; `/readyz` asks it. */
  readonly isReady: () => Promise<unknown>;
  readonly log: Log;
  /** Default: `defaultRateLimits`. */
  readonly rateLimits?: RateLimits;
}

/** The HTTP server, not yet listening. WebSocket upgrades are left to `app.server.on('upgrade')`. */
export function createHttpApp<O extends Record<string, OperationDeclaration> = Operations>(
  options: HttpAppOptions<O>,
): FastifyInstance {
  const { authenticate, findRole, isReady, log, rateLimits = defaultRateLimits } = options;
  // When it is left out, O is Operations.
  const operations: Readonly<Record<string, OperationDeclaration>> = options.operations ?? everyOperation;
  const metrics = createHttpMetrics();
  const app = fastify({
    logger: false,
    // A public token may name a thousand objects, and travels in a header.
    http: { maxHeaderSize: 64 * 1_024 },
    genReqId: requestIds(),
    // Load balancers keep connections for a minute; ours must not close first.
    keepAliveTimeout: 72_000,
    requestTimeout: 60_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 2_048, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) => sendFailure(request, reply, error, log),
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('arrivedAt', 0);
  // Bodies stay text until the rest of the request is known to be right.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, error, log));
  app.setNotFoundHandler((_request, reply) => {
    sendJson(reply.header('x-should-retry', 'false'), 404, '{"error":"Not found"}');
  });
  mountProbes(app, isReady, metrics);
  mountReference(app, () => openApiDocument(operations));
  // A handler takes its own operation's request, and `mountOperations` pairs them by name.
  const handlers = options.handlers as unknown as Readonly<Record<string, Handler<OperationDeclaration>>>;
  mountOperations(app, { operations, handlers, authenticate, findRole, rateLimits, metrics, log });
  return app;
}

/** Unlike those of other processes, and cheap. */
function requestIds(): () => string {
  const process = randomBytes(6).toString('hex');
  let count = 0;
  return () => `req_${process}${(count++).toString(36)}`;
}
