import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

/** What a scope can allow. `write` also covers `trigger`, `batchTrigger` and `update` on the same resource. */
export type Action = 'read' | 'write' | 'trigger' | 'batchTrigger' | 'admin';

/** What a scope can be about. */
export type ResourceType =
  | 'runs'
  | 'tasks'
  | 'tags'
  | 'batch'
  | 'queues'
  | 'envvars'
  | 'errors'
  | 'sessions'
  | 'schedules'
  | 'events'
  | 'deployments'
  | 'branches'
  | 'waitpoints'
  | 'apiKeys'
  | 'projects';

/**
 * Who may call an operation. A credential kind that is not named is refused with 401.
 * `action` and `on` say what a restricted key or a public token must hold; an operation with neither is closed to them.
 */
export interface Access {
  /** No credential at all. */
  readonly open?: boolean;
  readonly secretKey?: boolean;
  readonly personalAccessToken?: boolean;
  readonly publicToken?: boolean;
  readonly action?: Action;
  readonly on?: ResourceType;
}

export interface OperationDeclaration {
  /** Unique, in lower camel case; the operationId of the OpenAPI document. */
  readonly id: string;
  readonly method: Method;
  /** Fastify style: `/api/v1/errors/:errorId/resolve`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Accept a request without a body although `body` is declared. */
  readonly bodyOptional?: boolean;
  /** Largest body in bytes; a larger one is refused with 413. Default 1 MiB. */
  readonly bodyLimit?: number;
  /** Status of a success. Default 200. */
  readonly status?: number;
  readonly reply: z.ZodType;
  /** Error statuses worth naming in the OpenAPI document beside 400, 401, 403 and 500. */
  readonly errors?: readonly number[];
  /** A browser may call it with a public token: CORS is open. Default: whether `publicToken` is accepted. */
  readonly cors?: boolean;
}

/** Declares one HTTP operation. The server's types and validation, the OpenAPI document and the SDK come from it. */
export const operation = <const D extends OperationDeclaration>(declaration: D): D => declaration;

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
export type Params<D extends OperationDeclaration> = Parsed<D['params']>;
export type Query<D extends OperationDeclaration> = Parsed<D['query']>;
export type Body<D extends OperationDeclaration> = D['bodyOptional'] extends true
  ? Parsed<D['body']> | undefined
  : Parsed<D['body']>;
/** What a handler returns and a client receives. */
export type Reply<D extends OperationDeclaration> = z.input<D['reply']>;
