import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FindRole } from '../auth/membership.ts';
import { isUser } from '../auth/principal.ts';
import type { AccessWatcher } from '../auth/watch-access.ts';
import { forbidden } from '../problem.ts';
import { covers, missingScope, roleOf } from './authorize.ts';
import { bodyReader } from './body-reader.ts';
import { requestKeyHeader, responseKey } from './idempotent-responses.ts';
import { HttpRequest } from './request.ts';
import type { Route } from './route.ts';
import { listIssues, readPart } from './validate.ts';

export interface ReaderDependencies {
  readonly access: Pick<AccessWatcher, 'watch'>;
  readonly findRole: FindRole;
}

/**
 * Returns a function that reads a request of an operation and checks, in this order, its parameters, query and body (400) and its scopes (403).
 */
export function requestReader(
  { declaration, limiter }: Route,
  { access: live, findRole }: ReaderDependencies,
): (raw: FastifyRequest, reply: FastifyReply, leave: () => void) => Promise<HttpRequest> {
  const { id, method, access, params, query, listsIssues = false } = declaration;
  const isRead = method === 'GET' || method === 'HEAD';
  const readBody = bodyReader(declaration, live);

  async function read(raw: FastifyRequest, reply: FastifyReply, leave: () => void): Promise<HttpRequest> {
    const values = {
      params: params === undefined ? undefined : readPart(params, raw.params, 'Params Error'),
      query: query === undefined ? undefined : readPart(query, raw.query, 'Query Error'),
      body: readBody(raw),
    };
    if (values.body instanceof Promise) values.body = await values.body;
    const { principal } = raw;
    const where = raw.params as Record<string, string>;
    const authorized = principal === null || covers(principal, access, where);
    if (!authorized && !access.objects) throw forbidden(missingScope(principal, access));
    const role =
      principal === null || access.role === undefined
        ? undefined
        : await roleOf(findRole, principal, access, where);
    const key = isRead ? undefined : responseKey(id, principal, raw.headers[requestKeyHeader], targetOf(raw));
    return new HttpRequest({
      raw,
      reply,
      access,
      authorized,
      role,
      values,
      responseKey: key,
      limiter,
      leave,
    });
  }

  return listsIssues ? (raw, reply, leave) => read(raw, reply, leave).catch(listIssues) : read;
}

/** Identifies the target of the request: the URL and, for a user, the branch headers. */
const targetOf = ({ url, headers, principal }: FastifyRequest): string =>
  principal && isUser(principal)
    ? [url, headers['x-service-branch'], headers['x-trigger-branch']].join('\n')
    : url;
