/**
 * Mounts every operation at its path. The contract fixes the order of checks: 405, 401, 413 (before-body.ts), parameters, query and body (400),
 * scopes (403: request-reader.ts), handler (answer.ts). Values that do not change between requests are computed once for each route.
 */
import type { OperationDeclaration } from '@millrace/contract';
import type { FastifyInstance } from 'fastify';
import type { Handler } from '../request.ts';
import { createAddressLimit } from './address-limit.ts';
import { answer, type AnswerDependencies } from './answer.ts';
import { createBadCredentialLimit } from './bad-credentials.ts';
import { callerCheck, openCheck, type CallerDependencies, type PathSecrets } from './before-body.ts';
import { checkOperations } from './check-operations.ts';
import { IdempotentResponses } from './idempotent-responses.ts';
import type { HttpMetrics } from './metrics.ts';
import { replyToOtherMethods } from './other-methods.ts';
import { sendError } from './problem.ts';
import { createLimiters, type RateLimits } from './rate-limit.ts';
import type { Route } from './route.ts';

export interface MountOptions extends CallerDependencies, Omit<AnswerDependencies, 'responses'> {
  readonly operations: Readonly<Record<string, OperationDeclaration>>;
  readonly handlers: Readonly<Record<string, Handler<OperationDeclaration>>>;
  readonly pathSecrets: PathSecrets;
  readonly rateLimits: RateLimits;
  readonly metrics: HttpMetrics;
}

export const defaultBodyLimit = 1024 * 1024;
/** For operations that take no credential. */
export const openBodyLimit = 8 * 1024;

export function mountOperations(app: FastifyInstance, options: MountOptions): void {
  const { operations, handlers } = options;
  checkOperations(operations, handlers);
  const limiterOf = createLimiters(options.rateLimits);
  const responses = new IdempotentResponses();
  const badCredentials = createBadCredentialLimit(options.rateLimits.badCredentials);
  const openRequests = createAddressLimit(options.rateLimits.openRequests);
  const routes = Object.entries(operations).map(([name, declaration]): Route => {
    const handler = handlers[name];
    if (!handler) throw new TypeError(`${name} has no handler.`);
    const cors = declaration.cors ?? declaration.access.publicToken === true;
    const observed = options.metrics.route(declaration.method, declaration.path);
    const { id, path, unlimited = false } = declaration;
    const limiter = unlimited || !path.startsWith('/api') ? undefined : limiterOf(id);
    return { declaration, handler, cors, limiter, observed };
  });
  for (const route of routes) {
    const { id, method, path: url, access, streams = false } = route.declaration;
    const isOpen = access.open === true && options.pathSecrets[id] === undefined;
    const { bodyLimit = isOpen ? openBodyLimit : defaultBodyLimit } = route.declaration;
    if (isOpen && bodyLimit > openBodyLimit)
      throw new TypeError(`${id} takes no credential; its body is too large.`);
    app.route({
      method,
      url,
      bodyLimit,
      config: {
        cors: route.cors,
        observed: route.observed,
        bodyStream: route.declaration.bodyStream !== undefined,
        bodyText: route.declaration.bodyText === true,
        bodyForm: route.declaration.bodyForm !== undefined,
        ...(route.declaration.failure && { failure: route.declaration.failure }),
      },
      // A stream has no length to report.
      exposeHeadRoute: !streams,
      onRequest: access.open
        ? openCheck(route, options, openRequests)
        : callerCheck(route, options, badCredentials),
      handler: answer(route, { ...options, responses }),
    });
  }
  const replyToOther = replyToOtherMethods(routes.map(({ declaration, cors }) => ({ ...declaration, cors })));
  app.setNotFoundHandler((request, reply) => {
    if (replyToOther(request, reply)) return;
    sendError(reply.header('x-should-retry', 'false'), 'route_not_found', 'Not found');
  });
}
