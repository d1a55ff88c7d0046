import type { Access, Action, OperationDeclaration, Role } from '@millrace/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUser, type Environment, type Principal } from '../auth/principal.ts';
import { allows } from '../auth/scopes.ts';
import { forbidden } from '../problem.ts';
import type { Identity, Origin, Request } from '../request.ts';
import { baseUrlOf } from './base-url.ts';
import type { RouteMetrics } from './metrics.ts';
import type { Limiter } from './rate-limit.ts';
import { requestKeyOf } from './idempotent-responses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before authentication, and on open routes. */
    principal: Principal | null;
    /** `performance.now()` on arrival. */
    arrivedAt: number;
  }
  interface FastifyContextConfig {
    /** Browsers may call it from any origin. */
    cors?: boolean;
    observed?: RouteMetrics;
    /** The body is passed on as a stream. */
    bodyStream?: boolean;
    /** The body is a text of any type. */
    bodyText?: boolean;
    /** The body may be a form instead of JSON. */
    bodyForm?: boolean;
    /** Fields next to `error` in error responses, except 401 and 403. */
    failure?: Readonly<Record<string, unknown>>;
  }
}

export interface HttpRequestParts {
  readonly raw: FastifyRequest;
  readonly reply: FastifyReply;
  readonly access: Access;
  /** Whether the credential's scopes cover the operation for any object. */
  readonly authorized: boolean;
  readonly role: Role | undefined;
  readonly values: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
  readonly responseKey: string | undefined;
  readonly limiter: Limiter | undefined;
  readonly leave: () => void;
}

/** The request passed to a handler. Its values are validated against the operation's declaration. */
export class HttpRequest implements Request<OperationDeclaration> {
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly role: Role | undefined;
  /** Identifies a repeated request. */
  readonly responseKey: string | undefined;
  readonly headersSet: [name: string, value: string][] = [];
  /** Set by the handler to override the operation's status. */
  status: number | undefined;
  /** False while the handler must still authorize each object. */
  authorized: boolean;
  readonly #access: Access;
  readonly #raw: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #limiter: Limiter | undefined;
  readonly releaseSlot: () => void;
  #gone: AbortSignal | undefined;

  constructor({
    raw,
    reply,
    access,
    authorized,
    role,
    values,
    responseKey,
    limiter,
    leave,
  }: HttpRequestParts) {
    this.#raw = raw;
    this.#reply = reply;
    this.#access = access;
    this.#limiter = limiter;
    this.releaseSlot = leave;
    this.authorized = authorized;
    this.role = role;
    this.responseKey = responseKey;
    // These values were parsed by the declared schemas. The class is used for all operations, so it cannot name their types.
    this.params = values.params as never;
    this.query = values.query as never;
    this.body = values.body as never;
  }

  get principal(): Principal {
    const { principal } = this.#raw;
    if (principal === null) throw new TypeError('An open operation has no principal.');
    return principal;
  }

  get environment(): Environment {
    const { principal } = this;
    if (isUser(principal)) {
      throw new TypeError('This credential is for a user, not for an environment.');
    }
    return principal.environment;
  }

  get origin(): Origin {
    return {
      requestId: this.#raw.id,
      address: this.#raw.ip,
      userAgent: this.header('user-agent')?.slice(0, 256),
    };
  }

  get baseUrl(): string {
    return baseUrlOf(this.#raw);
  }

  get requestKey(): string | undefined {
    return this.responseKey === undefined ? undefined : requestKeyOf(this.responseKey);
  }

  get gone(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      this.#reply.raw.once('close', () => gone.abort());
      this.#gone = gone.signal;
    }
    return this.#gone;
  }

  header(name: string): string | undefined {
    const value = this.#raw.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : undefined;
  }

  charge(requests: number): void {
    if (requests > 0) this.#limiter?.charge(this.principal, this.#reply, requests);
  }

  setHeader(name: string, value: string): void {
    this.headersSet.push([name, value]);
    this.#reply.header(name, value);
  }

  setStatus(status: number): void {
    this.status = status;
  }

  authorize(identities: readonly Identity[], instead?: Action): void {
    const { principal } = this;
    // For a user the operation itself checks membership.
    if (!isUser(principal)) {
      const actions = [this.#access.action, instead];
      if (!actions.some((action) => action && allows(principal.scopes, action, identities)))
        throw forbidden();
    }
    this.authorized = true;
  }
}
