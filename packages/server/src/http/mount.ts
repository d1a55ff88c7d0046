/**
 * Mounts every operation at its path. The contract fixes the order of checks: 405, 401, 413, parameters, query and body
 * (400), scopes (403), handler. What does not change between requests is computed once for each route.
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { defaultBodyMembers, type Access, type OperationDeclaration } from '@millrace/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { z } from 'zod';
import type { Authenticate, Credentials } from '../auth/authenticate.ts';
import type { AccessWatcher } from '../auth/watch-access.ts';
import type { FindRole } from '../auth/membership.ts';
import { isUser, type Principal } from '../auth/principal.ts';
import { jsonOfReply } from '../json/shown.ts';
import { inTurns } from '../json/parts.ts';
import { largeBody, Turns } from '../json/turns.ts';
import type { Log } from '../logger.ts';
import { forbidden, Problem, unauthorized } from '../problem.ts';
import { Streaming, type Handler } from '../request.ts';
import { admit, covers, missingScope, roleOf } from './authorize.ts';
import { countOpenRequest, createAddressLimit, type AddressLimit } from './address-limit.ts';
import { createBadCredentialLimit, type BadCredentialLimit } from './bad-credentials.ts';
import { isForm, readForm } from './form.ts';
import { apiHeaders, corsHeaders } from './headers.ts';
import { browserCredentialsOf } from './browser-credentials.ts';
import type { HttpMetrics, RouteMetrics } from './metrics.ts';
import { replyToOtherMethods } from './other-methods.ts';
import { sendError, sendFailure, sendJson } from './problem.ts';
import { createLimiters, type Limiter, type RateLimits } from './rate-limit.ts';
import { checkOperations } from './check-operations.ts';
import {
  responseKey,
  IdempotentResponses,
  requestKeyHeader,
  withBody,
  type Answer,
} from './idempotent-responses.ts';
import { HttpRequest } from './request.ts';
import { fitting, listIssues, readBody, readBodyParts, readPart, refusedText } from './validate.ts';

export interface MountOptions {
  readonly operations: Readonly<Record<string, OperationDeclaration>>;
  readonly handlers: Readonly<Record<string, Handler<OperationDeclaration>>>;
  readonly authenticate: Authenticate;
  readonly findRole: FindRole;
  readonly pathSecrets: PathSecrets;
  readonly access: Pick<AccessWatcher, 'watch'>;
  readonly rateLimits: RateLimits;
  readonly metrics: HttpMetrics;
  readonly log: Log;
  /** Called with the connection of each admitted caller. */
  readonly onAdmitted: (socket: Socket) => void;
}

/**
 * By the ids of operations that take no credential, but have a secret in their path: throws a 404 Problem for a wrong one. The body of such a
 * request is read only after this.
 */
export type PathSecrets = Readonly<
  Record<string, (params: Readonly<Record<string, string>>) => Promise<unknown>>
>;

interface Route {
  readonly declaration: OperationDeclaration;
  readonly handler: Handler<OperationDeclaration>;
  readonly cors: boolean;
  readonly limiter: Limiter | undefined;
  readonly observed: RouteMetrics;
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
      handler: answer(route, options, responses),
    });
  }
  const replyToOther = replyToOtherMethods(routes.map(({ declaration, cors }) => ({ ...declaration, cors })));
  app.setNotFoundHandler((request, reply) => {
    if (replyToOther(request, reply)) return;
    sendError(reply.header('x-should-retry', 'false'), 404, 'Not found');
  });
}

/** Counts a request to an operation without a credential, or checks the secret in its path, before the body is read. */
function openCheck(
  { declaration: { id, body }, cors }: Route,
  { pathSecrets, log }: MountOptions,
  limit: AddressLimit,
): onRequestHookHandler {
  const checkSecret = pathSecrets[id];
  return (request, reply, proceed) => {
    request.arrivedAt = performance.now();
    if (cors) reply.headers(corsHeaders);
    const failed = (error: unknown): void => sendFailure(request, reply, error, log);
    const count = (): void =>
      countOpenRequest(limit, request.ip, (name, value) => void reply.header(name, value));
    if (checkSecret) {
      const wrongSecret = (error: unknown): void => {
        try {
          count();
          failed(error);
        } catch (tooMany) {
          failed(tooMany);
        }
      };
      checkSecret(request.params as Record<string, string>).then(() => proceed(), wrongSecret);
      return;
    }
    try {
      if (body) count();
    } catch (error) {
      return failed(error);
    }
    proceed();
  };
}

/** Authenticates the caller before the body is read. Synchronous when the credential is cached. */
function callerCheck(
  { declaration: { access, method, bodyStream }, cors, limiter, observed }: Route,
  { authenticate, log, onAdmitted }: MountOptions,
  badCredentials: BadCredentialLimit,
): onRequestHookHandler {
  function admitCaller(
    principal: Principal,
    request: FastifyRequest,
    reply: FastifyReply,
    done: () => void,
  ): void {
    // A call that is refused later counts too.
    if (limiter !== undefined && !limiter.admit(principal, reply)) {
      return observed.observe(reply.statusCode, performance.now() - request.arrivedAt);
    }
    admit(principal, access, method);
    request.principal = principal;
    onAdmitted(request.raw.socket);
    if (bodyStream) refuseOtherTypes(bodyStream, request.headers['content-type']);
    done();
  }

  return (request, reply, done) => {
    request.arrivedAt = performance.now();
    if (cors) reply.headers(corsHeaders);
    const failed = (error: unknown): void => sendFailure(request, reply, error, log);
    const unknown = (error: unknown): void =>
      failed(badCredentials(error, request.ip, (name, value) => void reply.header(name, value)));
    const admitted = (principal: Principal): void => {
      try {
        admitCaller(principal, request, reply, done);
      } catch (error) {
        failed(error);
      }
    };
    let principal: Principal | Promise<Principal>;
    try {
      principal = authenticate(credentialsOf(request, access));
    } catch (error) {
      return unknown(error);
    }
    if (principal instanceof Promise) principal.then(admitted, unknown).catch(failed);
    else admitted(principal);
  };
}

function refuseOtherTypes(types: readonly string[], given = ''): void {
  if (types.includes(given.split(';', 1)[0]?.trim().toLowerCase() ?? '')) return;
  throw new Problem(415, `Content-Type ${given === '' ? 'is missing' : 'cannot be read'}: send ${types[0]}`);
}

function credentialsOf(request: FastifyRequest, access: Access): Credentials {
  const { headers } = request;
  const { wholeEnvironment = false, branchIsOptional = false } = access;
  const serviceBranch = headers['x-service-branch'] as string | undefined;
  const triggerBranch = headers['x-trigger-branch'] as string | undefined;
  return {
    authorization: headers.authorization,
    browser: headers.authorization === undefined ? browserCredentialsOf(request, access) : undefined,
    serviceBranch,
    triggerBranch,
    wholeEnvironment:
      wholeEnvironment || (branchIsOptional && serviceBranch === undefined && triggerBranch === undefined),
  };
}

/** Streams the body for as long as the caller's credential is valid: an upload may take minutes. */
async function* partsOf(
  { body, principal }: FastifyRequest,
  live: Pick<AccessWatcher, 'watch'>,
): AsyncGenerator<Buffer> {
  let ended = false;
  const release = principal ? live.watch(principal, () => (ended = true)) : () => {};
  try {
    // Stopping early must not close the connection: the response is still to be sent.
    for await (const part of (body as Readable).iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      if (ended) throw unauthorized('The credential of this request has ended');
      yield part;
    }
  } finally {
    release();
  }
}

/** What the request acts on: the URL and, for a user, the branch headers. */
const targetOf = ({ url, headers, principal }: FastifyRequest): string =>
  principal && isUser(principal)
    ? [url, headers['x-service-branch'], headers['x-trigger-branch']].join('\n')
    : url;

function answer(route: Route, { access: live, findRole, log }: MountOptions, responses: IdempotentResponses) {
  const { declaration, handler, observed, cors } = route;
  const {
    id,
    method,
    access,
    params,
    query,
    body,
    bodyForm,
    bodyOptional,
    checksTexts,
    bodyText = false,
    maxMembers = defaultBodyMembers,
    maxEscapes,
    streams = false,
    bodyStream,
    listsIssues = false,
    storesRequestKey = false,
    status = 200,
  } = declaration;
  const isRead = method === 'GET' || method === 'HEAD';
  const bodyRules = { bodyOptional, checksTexts, limits: { maxMembers, maxEscapes } };

  function bodyOf(schema: z.ZodType, raw: FastifyRequest): unknown {
    if (raw.body instanceof Buffer) return largeBodyOf(schema, raw.body);
    const text = raw.body as string | undefined;
    if (bodyText) return fitting(schema, text ?? '');
    const type = raw.headers['content-type'];
    return bodyForm !== undefined && isForm(type)
      ? readForm(text, type, bodyForm).then((members) => fitting(schema, members))
      : readBody(schema, text, bodyRules);
  }

  /** The handler gets a turn of its own. */
  async function largeBodyOf(schema: z.ZodType, bytes: Buffer): Promise<unknown> {
    const turns = new Turns();
    const read = await inTurns(readBodyParts(schema, bytes, bodyRules), turns);
    await turns.next();
    return read;
  }

  async function readWhole(raw: FastifyRequest, to: FastifyReply): Promise<HttpRequest> {
    const values = {
      params: params === undefined ? undefined : readPart(params, raw.params, 'Params Error'),
      query: query === undefined ? undefined : readPart(query, raw.query, 'Query Error'),
      body: bodyStream ? partsOf(raw, live) : body === undefined ? undefined : bodyOf(body, raw),
    };
    if (values.body instanceof Promise) values.body = await values.body;
    if (typeof raw.body === 'string' && raw.body.length > largeBody) await setImmediate();
    const { principal } = raw;
    const where = raw.params as Record<string, string>;
    const authorized = principal === null || covers(principal, access, where);
    if (!authorized && !access.objects) throw forbidden(missingScope(principal, access));
    const role =
      principal === null || access.role === undefined
        ? undefined
        : await roleOf(findRole, principal, access, where);
    const key = isRead
      ? undefined
      : responseKey(id, raw.principal, raw.headers[requestKeyHeader], targetOf(raw));
    return new HttpRequest(raw, to, access, authorized, role, values, key, route.limiter);
  }

  const read = (raw: FastifyRequest, to: FastifyReply): Promise<HttpRequest> =>
    listsIssues ? readWhole(raw, to).catch(listIssues) : readWhole(raw, to);

  async function reply(raw: FastifyRequest, to: FastifyReply): Promise<Answer> {
    const request = await read(raw, to);
    const { responseKey: key } = request;
    if (key === undefined || storesRequestKey) return answered(request);
    const kept = await responses.once(withBody(key, raw.body), () => answered(request));
    for (const [name, value] of kept.headers) to.header(name, value);
    return kept;
  }

  async function answered(request: HttpRequest): Promise<Answer> {
    const text = jsonOfReply(await act(request)) ?? 'null';
    return { text, headers: request.headersSet, status: request.status };
  }

  async function stream(raw: FastifyRequest, to: FastifyReply): Promise<void> {
    const request = await read(raw, to);
    const streaming = await act(request);
    if (!(streaming instanceof Streaming))
      throw new TypeError(`The handler of ${id} did not answer a stream.`);
    const { socket, httpVersionMinor } = raw.raw;
    // The client disconnected during the checks.
    if (socket.destroyed) return;
    to.hijack();
    observed.observe(status, performance.now() - raw.arrivedAt);
    streaming.open({
      socket,
      isHttp10: httpVersionMinor === 0,
      headers: { ...apiHeaders, ...(cors && corsHeaders), ...Object.fromEntries(request.headersSet) },
      whileAllowed: (ended) => (raw.principal ? live.watch(raw.principal, ended) : () => {}),
    });
  }

  async function act(request: HttpRequest): Promise<unknown> {
    const result = await handler(request).catch((thrown: unknown) => {
      const { params: where, query: asked, body: sent } = request;
      const error = refusedText(thrown, { where, asked, sent }) ?? thrown;
      // A caller who may not see an object must not learn whether it exists.
      throw !request.authorized && error instanceof Problem && error.status === 404 ? forbidden() : error;
    });
    if (!request.authorized) {
      throw new TypeError(`The handler of ${id} answered without authorizing its object.`);
    }
    return result;
  }

  return (raw: FastifyRequest, to: FastifyReply): void => {
    const done = streams
      ? stream(raw, to)
      : reply(raw, to).then(({ text, status: own = status }) => {
          sendJson(to, own, text);
          observed.observe(own, performance.now() - raw.arrivedAt);
          return undefined;
        });
    done
      // Drain the unread body.
      .finally(() => bodyStream && raw.raw.resume())
      .catch((error: unknown) => sendFailure(raw, to, error, log))
      // The error response could not be sent either.
      .catch(() => raw.raw.destroy());
  };
}
