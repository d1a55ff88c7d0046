import type { Context } from '../task/context.ts';
import type { RetryOptions } from '../retry/backoff.ts';

/** Parameters of every hook. */
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
  /** The thrown error, or the one that `catchError` returned. */
  readonly error: unknown;
}

/** How the run ended. */
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
 * What follows a failed attempt. Default: the task's own rules. `error` replaces the thrown error. A run never has more attempts than
 * its `maxAttempts`.
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
  /** Calls the next middleware, and finally the hooks and `run`. Call it once, and await it. */
  readonly next: () => Promise<void>;
}

/** Functions that are called around `run`, for one task or, through `tasks`, for all. */
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
  /** When an executing run is cancelled: at once, while its code stops. */
  onCancel?: (args: CancelArguments<TPayload>) => unknown;
  /** At the end of a run that has executed, after the hook for how it ended. */
  onComplete?: (args: CompleteArguments<TPayload, TOutput>) => unknown;
  /** After each failed attempt: decides what follows. The task's own hook comes first; the first result counts. */
  catchError?: (args: CatchErrorArguments<TPayload>) => CatchErrorResult | Promise<CatchErrorResult>;
}

export type HookName = keyof Hooks;
export type HookOf<K extends HookName> = NonNullable<Hooks[K]>;
