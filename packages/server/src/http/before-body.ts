/** Checks that run before the body of a request is read. */
import type { Socket } from 'node:net';
import type { Access } from '@millrace/contract';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Authenticate, Credentials } from '../auth/authenticate.ts';
import type { Principal } from '../auth/principal.ts';
import type { Log } from '../logger.ts';
import { Problem } from '../problem.ts';
import { countOpenRequest, type AddressLimit } from './address-limit.ts';
import { admit } from './authorize.ts';
import type { BadCredentialLimit } from './bad-credentials.ts';
import { browserCredentialsOf } from './browser-credentials.ts';
import { corsHeaders } from './headers.ts';
import { sendFailure } from './problem.ts';
import type { Route } from './route.ts';

/**
 * Checks of operations without a credential that have a secret in their path, by operation id. Each throws a 404 Problem for a wrong
 * secret, before the body of the request is read.
 */
export type PathSecrets = Readonly<
  Record<string, (params: Readonly<Record<string, string>>) => Promise<unknown>>
>;

export interface CallerDependencies {
  readonly authenticate: Authenticate;
  readonly log: Log;
  /** Called with the connection of each admitted caller. */
  readonly onAdmitted: (socket: Socket) => void;
}

/** Counts a request to an operation without a credential, or checks the secret in its path, before the body is read. */
export function openCheck(
  { declaration: { id, body }, cors }: Route,
  { pathSecrets, log }: { readonly pathSecrets: PathSecrets; readonly log: Log },
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
export function callerCheck(
  { declaration: { access, method, bodyStream }, cors, limiter, observed }: Route,
  { authenticate, log, onAdmitted }: CallerDependencies,
  badCredentials: BadCredentialLimit,
): onRequestHookHandler {
  function admitCaller(
    principal: Principal,
    request: FastifyRequest,
    reply: FastifyReply,
    done: () => void,
  ): void {
    // A call that is rejected later counts too.
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

function refuseOtherTypes(types: readonly string[], contentType = ''): void {
  if (types.includes(contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '')) return;
  throw new Problem(
    'unsupported_media_type',
    `Content-Type ${contentType === '' ? 'is missing' : 'is not supported'}: send ${types[0]}`,
  );
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
