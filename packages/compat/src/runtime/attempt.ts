import type { Context } from '@millrace/sdk';
import type { RunScope } from '@millrace/sdk/executor';
import { publishedContext, type PublishedContext } from './context.ts';
import type { Inbox } from './inbox.ts';
import type { Waitpoint } from './waitpoint.ts';
import { Usage } from './usage.ts';

/** What the SDK hands to every hook. */
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
 * What the published SDK knows of the attempt that the calling code belongs to. In its own processes this is global. Most code uses little
 * of it, so each part is made when it is asked for first.
 */
export class Attempt {
  readonly scope: RunScope;
  readonly payload: unknown;
  readonly signal: AbortSignal;
  /** What the `init` hooks returned. */
  init: unknown = {};
  /** Hooks come after its `run`, so it does not end with that. */
  isWrapped = false;
  /** An `init` hook has thrown: the attempt fails with this. */
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

  /** What it reads of channels, by their paths. */
  get inboxes(): Map<string, Inbox> {
    return (this.#inboxes ??= new Map());
  }

  /** Waits that its code has asked for and not begun, by the id that it was given for them. */
  get waitpoints(): Map<string, Waitpoint> {
    return (this.#waitpoints ??= new Map());
  }

  /** Keys that lead a repeated request, and an attempt that runs again, to what was made before; by request. */
  get waitKeys(): Map<string, string> {
    return (this.#waitKeys ??= new Map());
  }

  /** Reads nothing more of channels. */
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

/** The attempt of the calling code. The first call, before any of its code, makes it. `machine` is that of its task. */
export function enterAttempt(given: CallArguments, machine?: string): Attempt {
  const scope = scopes[slot]?.getStore();
  if (!scope) throw new Error('A task of the published SDK runs only within an attempt.');
  return (scope.other ??= new Attempt(scope, given, machine)) as Attempt;
}

/** The same, for what the published SDK refuses outside of a task. */
export function requireAttempt(what: string): Attempt {
  const attempt = currentAttempt();
  if (!attempt) throw new Error(`${what} works only in the code of a task while it runs: call it there.`);
  return attempt;
}
