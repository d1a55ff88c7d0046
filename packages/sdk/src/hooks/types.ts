import type { Context } from '../task/context.ts';
import type { RetryOptions } from '../retry/backoff.ts';

/** What every hook is told. */
export interface HookArguments<TPayload = unknown> {
  /** What `run` gets. */
  readonly payload: TPayload;
  readonly ctx: Context;
  /** Aborted when the run is cancelled or has taken longer than its `maxDuration`. */
  readonly signal: AbortSignal;
  /** The id of the task. */
  readonly task: string;
}

export interface SuccessArguments<TPayload = unknown, TOutput = unknown> extends HookArguments<TPayload> {
  readonly output: TOutput;
}

export interface FailureArguments<TPayload = unknown> extends HookArguments<TPayload> {
  /** What was thrown, or what `catchError` made of it. */
  readonly error: unknown;
}

/** How the run ended, as far as its code is concerned. */
export type HookResult<TOutput = unknown> =
  | { readonly ok: true; readonly data: TOutput }
  | { readonly ok: false; readonly error: unknown };

export interface CompleteArguments<TPayload = unknown, TOutput = unknown> extends HookArguments<TPayload> {
  readonly result: HookResult<TOutput>;
}

export interface CancelArguments<TPayload = unknown> extends HookArguments<TPayload> {
  /** Settles when `run` has stopped. */
  readonly runPromise: Promise<unknown>;
}

export interface CatchErrorArguments<TPayload = unknown> extends FailureArguments<TPayload> {
  /** The rules that apply unless the hook says otherwise. */
  readonly retry: RetryOptions;
  /** Milliseconds before the next attempt by these rules; undefined after the last. */
  readonly retryDelayInMs: number | undefined;
}

/**
 * What follows a failed attempt; nothing is by the task's own rules. `error` takes the place of what was thrown. Whatever is asked for,
 * a run has no more attempts than its `maxAttempts`.
 */
export type CatchErrorResult =
  | undefined
  | void
  | {
      /** No further attempt. */
      readonly skipRetrying?: boolean;
      /** The next attempt is due then. */
      readonly retryAt?: Date;
      /** Milliseconds before the next attempt. */
      readonly retryDelayInMs?: number;
      /** Other rules for the delay. */
      readonly retry?: Omit<RetryOptions, 'maxAttempts'>;
      readonly error?: unknown;
    };

export interface MiddlewareArguments<TPayload = unknown> extends HookArguments<TPayload> {
  /** Goes on: to the next middleware, at last to the hooks and `run`. Call it once, and await it. */
  readonly next: () => Promise<void>;
}

/** What is called around `run`, for one task or, through `tasks`, for all. */
export interface Hooks<TPayload = unknown, TOutput = unknown> {
  /** Around everything else of an attempt. What it throws fails the attempt. */
  middleware?: (args: MiddlewareArguments<TPayload>) => unknown;
  /** Before the first attempt of a run. What it throws fails the attempt. */
  onStart?: (args: HookArguments<TPayload>) => unknown;
  /** Before each attempt. What it throws fails the attempt. */
  onStartAttempt?: (args: HookArguments<TPayload>) => unknown;
  /** After an attempt that returned. */
  onSuccess?: (args: SuccessArguments<TPayload, TOutput>) => unknown;
  /** After an attempt that failed and is the last. */
  onFailure?: (args: FailureArguments<TPayload>) => unknown;
  /** When a run that executes is cancelled: at once, while its code stops. */
  onCancel?: (args: CancelArguments<TPayload>) => unknown;
  /** At the end of a run that has executed, after the hook for how it ended. */
  onComplete?: (args: CompleteArguments<TPayload, TOutput>) => unknown;
  /** After each attempt that threw: says what follows. The task's own is asked first; the first that says something decides. */
  catchError?: (args: CatchErrorArguments<TPayload>) => CatchErrorResult | Promise<CatchErrorResult>;
}

export type HookName = keyof Hooks;
export type HookOf<K extends HookName> = NonNullable<Hooks[K]>;
