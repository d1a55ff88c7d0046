import type { Operations, OperationDeclaration, Reply } from '@millrace/contract';
import type { z } from 'zod';

export type OperationName = keyof Operations;
type Of<N extends OperationName> = Operations[N] & OperationDeclaration;

type Input<S> = S extends z.ZodType ? z.input<S> : never;

/** Parameters in a path. */
type PathParams<S> = S extends z.ZodType
  ? { readonly params: { readonly [K in keyof z.input<S>]: string } }
  : { readonly params?: undefined };

/** Parameters of a query are texts in the end; lists are written with commas. */
type QueryTexts<S> = S extends z.ZodType
  ? { readonly query?: { readonly [K in keyof z.input<S>]?: string | number | boolean | undefined } }
  : { readonly query?: undefined };

type BodyOf<D extends OperationDeclaration> = D['body'] extends z.ZodType
  ? D['bodyOptional'] extends true
    ? { readonly body?: Input<D['body']> }
    : { readonly body: Input<D['body']> }
  : { readonly body?: undefined };

/** What a call is given. An operation without parameters in its path needs no `params`, and so on. */
export type Given<N extends OperationName> = PathParams<Of<N>['params']> &
  QueryTexts<Of<N>['query']> &
  BodyOf<Of<N>>;

export type ReplyOf<N extends OperationName> = Reply<Of<N>>;
