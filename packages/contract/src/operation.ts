import type { z } from 'zod';
import type { Access } from './access.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

/** For bodies whose members are all declared. */
export const defaultBodyMembers = 20_000;

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
  /** The handler checks the characters of strings itself, because its errors contain more than a path. */
  readonly checksTexts?: boolean;
  /** The body may also be multipart/form-data; fields and files become members. The value names the required file. */
  readonly bodyForm?: string;
  /** The body is text of any type. A missing body is an empty text. */
  readonly bodyText?: boolean;
  /** The body is a stream without a size limit, with one of these content types (415 for others); `body` is omitted. */
  readonly bodyStream?: readonly string[];
  /** Stores `requestKey` in the database to detect repeated requests. For other operations the process stores the response. */
  readonly storesRequestKey?: boolean;
  /** The success is a stream of server-sent events; `reply` is `eventStream`. */
  readonly streams?: boolean;
  /** Maximum body size in bytes; a larger body gets 413. Default 1 MiB. */
  readonly bodyLimit?: number;
  /** Maximum number of members of a JSON body, as `maxJsonMembers` counts them; a larger one gets 400. Default `defaultBodyMembers`. */
  readonly maxMembers?: number;
  /** Maximum number of escapes in the strings of a JSON body. Default: 16 for each of `maxMembers`. */
  readonly maxEscapes?: number;
  /** Status of a successful response. Default 200. */
  readonly status?: number;
  readonly reply: z.ZodType;
  /** Error statuses to list in the OpenAPI document in addition to 400, 401, 403 and 500. */
  readonly errors?: readonly number[];
  /** Error responses repeat `details` as `issues`, which older clients read. */
  readonly listsIssues?: boolean;
  /** Fields in addition to `error` in error responses, except 401 and 403. */
  readonly failure?: Readonly<Record<string, unknown>>;
  /** No rate limit, because it is cheap. */
  readonly unlimited?: boolean;
  /** A browser may call it with a public token: CORS is open. Default: whether `publicToken` is accepted. */
  readonly cors?: boolean;
}

/** The result of the handler of a streaming operation. */
export interface EventStreamReply {
  readonly streams: true;
}

/** Declares one HTTP operation, from which the server's types and validation, the OpenAPI document and the SDK are derived. */
export const operation = <const D extends OperationDeclaration>(declaration: D): D => declaration;

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
export type Params<D extends OperationDeclaration> = Parsed<D['params']>;
export type Query<D extends OperationDeclaration> = Parsed<D['query']>;
export type Body<D extends OperationDeclaration> = D['bodyStream'] extends readonly string[]
  ? AsyncIterable<Uint8Array>
  : D['bodyOptional'] extends true
    ? Parsed<D['body']> | undefined
    : Parsed<D['body']>;
/** The value that a handler returns and a client receives. */
export type Reply<D extends OperationDeclaration> = z.input<D['reply']>;
