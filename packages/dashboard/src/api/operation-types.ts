import type { Operations, OperationDeclaration, Reply } from '@millrace/contract';
import type { z } from 'zod';

export type OperationName = keyof Operations;
type Of<N extends OperationName> = Operations[N] & OperationDeclaration;

type Input<S> = S extends z.ZodType ? z.input<S> : never;

/** Parameters in a path. */
type PathParams<S> = S extends z.ZodType
  ? { readonly params: { readonly [K in keyof z.input<S>]: string } }
  : { readonly params?: undefined };

/** Query parameters are sent as strings; lists are comma-separated. */
type QueryTexts<S> = S extends z.ZodType
  ? { readonly query?: { readonly [K in keyof z.input<S>]?: string | number | boolean | undefined } }
  : { readonly query?: undefined };

type BodyOf<D extends OperationDeclaration> = D['body'] extends z.ZodType
  ? D['bodyOptional'] extends true
    ? { readonly body?: Input<D['body']> }
    : { readonly body: Input<D['body']> }
  : { readonly body?: undefined };

/** The input of a call. An operation without path parameters needs no `params`, and so on. */
export type InputOf<N extends OperationName> = PathParams<Of<N>['params']> &
  QueryTexts<Of<N>['query']> &
  BodyOf<Of<N>>;

export type ReplyOf<N extends OperationName> = Reply<Of<N>>;
