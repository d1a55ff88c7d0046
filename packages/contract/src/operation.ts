import type { z } from 'zod';
import type { Access } from './access.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

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
  /** The body may also come as multipart/form-data, its fields and the text of its files as members: the file it must hold. */
  readonly bodyForm?: string;
  /** The body is a text of any type, taken as it is. An absent one is the empty text. */
  readonly bodyText?: boolean;
  /** The body comes in pieces, without a limit, as one of these content types (415 for others); `body` is left out. */
  readonly bodyStream?: readonly string[];
  /** It knows a request that is sent again by its `requestKey`, for good; others are remembered by the process that served them. */
  readonly storesRequestKey?: boolean;
  /** The success is a stream of server-sent events; `reply` is `eventStream`. */
  readonly streams?: boolean;
  /** Largest body in bytes; a larger one is refused with 413. Default 1 MiB. */
  readonly bodyLimit?: number;
  /** Status of a success. Default 200. */
  readonly status?: number;
  readonly reply: z.ZodType;
  /** Error statuses worth naming in the OpenAPI document beside 400, 401, 403 and 500. */
  readonly errors?: readonly number[];
  /** What is wrong with a request is told as `issues` beside `details`: older clients look for it there. */
  readonly listsIssues?: boolean;
  /** Fields beside `error` in the answers to its failures, but for 401 and a missing scope. */
  readonly failure?: Readonly<Record<string, unknown>>;
  /** It costs nothing worth counting: no rate limit. */
  readonly unlimited?: boolean;
  /** A browser may call it with a public token: CORS is open. Default: whether `publicToken` is accepted. */
  readonly cors?: boolean;
}

/** What the handler of an operation that streams answers, instead of a value. */
export interface EventStreamReply {
  readonly streams: true;
}

/** Declares one HTTP operation. The server's types and validation, the OpenAPI document and the SDK come from it. */
export const operation = <const D extends OperationDeclaration>(declaration: D): D => declaration;

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
export type Params<D extends OperationDeclaration> = Parsed<D['params']>;
export type Query<D extends OperationDeclaration> = Parsed<D['query']>;
export type Body<D extends OperationDeclaration> = D['bodyStream'] extends readonly string[]
  ? AsyncIterable<Uint8Array>
  : D['bodyOptional'] extends true
    ? Parsed<D['body']> | undefined
    : Parsed<D['body']>;
/** What a handler returns and a client receives. */
export type Reply<D extends OperationDeclaration> = z.input<D['reply']>;
