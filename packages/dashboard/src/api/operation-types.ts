import type { Operations, OperationDeclaration, Reply } from '@millrace/contract';
import type { z } from 'zod';

export type OperationName = keyof Operations;
type Of<N extends OperationName> = Operations[N] & OperationDeclaration;

type Input<S> = S extends z.ZodType ? z.input<S> : never;
/** Parameters are texts in the end; lists are written with commas. */
type Texts<T> = { readonly [K in keyof T]?: string | number | boolean | undefined };

/** What a call is given. An operation without parameters in its path needs no `params`, and so on. */
export type Given<N extends OperationName> = (Of<N>['params'] extends z.ZodType
  ? { readonly params: { readonly [K in keyof Input<Of<N>['params']]: string } }
  : { readonly params?: undefined }) & {
  readonly query?: Of<N>['query'] extends z.ZodType ? Texts<Input<Of<N>['query']>> : undefined;
} & (Of<N>['body'] extends z.ZodType
    ? Of<N>['bodyOptional'] extends true
      ? { readonly body?: Input<Of<N>['body']> }
      : { readonly body: Input<Of<N>['body']> }
    : { readonly body?: undefined });

export type ReplyOf<N extends OperationName> = Reply<Of<N>>;
