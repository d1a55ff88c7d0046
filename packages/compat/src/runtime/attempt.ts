import type { Context } from '@millrace/sdk';
import type { RunScope } from '@millrace/sdk/executor';
import { publishedContext, type PublishedContext } from './context.ts';
import type { Inbox } from './inbox.ts';
import type { Waitpoint } from './waitpoint.ts';
import { Usage } from './usage.ts';

/** The arguments that the SDK passes to every hook. */
export interface CallArguments {
  readonly payload: unknown;
  readonly ctx: Context;
  readonly signal: AbortSignal;
}

/** A promise that an attempt may have to wait for before it ends. */
export interface Deferred {
  requiresResolving(): boolean;
  readonly promise: Promise<unknown> | ((timeoutMs: number) => Promise<unknown>);
}

/**
 * The published SDK's state of the current attempt, which is global in its own processes. Most code uses little of it, so each part is created
 * on first use.
 */
export class Attempt {
  readonly scope: RunScope;
  readonly payload: unknown;
  readonly signal: AbortSignal;
  /** The results of the `init` hooks. */
  init: unknown = {};
  /** Hooks run after its `run`, so it does not end when that returns. */
  isWrapped = false;
  /** Set if an `init` hook has thrown; the attempt fails with this error. */
  failed: { readonly thrown: unknown } | undefined;
  readonly #context: Context;
  readonly #machine: string | undefined;
  readonly #startedAt = performance.now();
  #ctx: PublishedContext | undefined;
  #usage: Usage | undefined;
  #locals: Map<unknown, unknown> | undefined;
  #deferred: Set<Deferred> | undefined;
  #inboxes: Map<string, Inbox> | undefined;
  #waitpoints: Map<string, Waitpoint> | undefined;
  #waitKeys: Map<string, string> | undefined;

  constructor(scope: RunScope, { payload, ctx, signal }: CallArguments, machine: string | undefined) {
    this.scope = scope;
    this.payload = payload;
    this.signal = signal;
    this.#context = ctx;
    this.#machine = machine;
  }

  get ctx(): PublishedContext {
    return (this.#ctx ??= publishedContext(this.#context, this.#machine));
  }

  get usage(): Usage {
    return (this.#usage ??= new Usage(this.#startedAt));
  }

  get locals(): Map<unknown, unknown> {
    return (this.#locals ??= new Map());
  }

  get deferred(): Set<Deferred> {
    return (this.#deferred ??= new Set());
  }

  /** The channels that it reads, by path. */
  get inboxes(): Map<string, Inbox> {
    return (this.#inboxes ??= new Map());
  }

  /** Waits that its code has requested but not begun, by the id that was returned for them. */
  get waitpoints(): Map<string, Waitpoint> {
    return (this.#waitpoints ??= new Map());
  }

  /** Keys, by request, with which a repeated request or an attempt that is executed again finds the objects created before. */
  get waitKeys(): Map<string, string> {
    return (this.#waitKeys ??= new Map());
  }

  /** Stops reading channels. */
  closeInboxes(): void {
    for (const inbox of this.#inboxes?.values() ?? []) inbox.close();
  }

  get hasDeferred(): boolean {
    return (this.#deferred?.size ?? 0) > 0;
  }
}

/** The registered symbol under which all copies of our SDK share the async contexts of runs. */
const slot = Symbol.for('@millrace/sdk/run-scopes');
const scopes = globalThis as { [slot]?: { getStore(): RunScope | undefined } };

/** The attempt of the calling code; undefined outside of attempts of published tasks. */
export function currentAttempt(): Attempt | undefined {
  const scope = scopes[slot]?.getStore();
  return scope?.other as Attempt | undefined;
}

/** The attempt of the calling code. Created by the first call, before any of its code. `machine` is that of its task. */
export function enterAttempt(args: CallArguments, machine?: string): Attempt {
  const scope = scopes[slot]?.getStore();
  if (!scope) throw new Error('A task of the published SDK runs only within an attempt.');
  return (scope.other ??= new Attempt(scope, args, machine)) as Attempt;
}

/** The same, for functions that the published SDK rejects outside of a task. */
export function requireAttempt(what: string): Attempt {
  const attempt = currentAttempt();
  if (!attempt) throw new Error(`${what} works only in the code of a task while it runs: call it there.`);
  return attempt;
}
