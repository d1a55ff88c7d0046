import type { Context } from '../task/context.ts';
import type { RetryOptions } from '../retry/backoff.ts';

/** Parameters of every hook. */
export interface HookArguments<TPayload = unknown> {
  /** The parsed payload, as passed to `run`. */
  readonly payload: TPayload;
  readonly ctx: Context;
  /** Aborted when the run is canceled or has exceeded its `maxDuration`. */
  readonly signal: AbortSignal;
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
  /** The rules that apply unless the hook overrides them. */
  readonly retry: RetryOptions;
  /** Milliseconds before the next attempt by these rules; undefined after the last. */
  readonly retryDelayInMs: number | undefined;
}

/**
 * How a failed attempt is handled. Default: the task's own rules. `error` replaces the thrown error. A run never has more attempts than
 * its `maxAttempts`.
 */
export type CatchErrorResult =
  | undefined
  | void
  | {
      /** Rules out a further attempt. */
      readonly skipRetrying?: boolean;
      /** When the next attempt is due. */
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

/** Functions that are called around `run`, for one task or, when registered through `tasks`, for all tasks. */
export interface Hooks<TPayload = unknown, TOutput = unknown> {
  /** Wraps the rest of an attempt. If it throws, the attempt fails. */
  middleware?: (args: MiddlewareArguments<TPayload>) => unknown;
  /** Runs before the first attempt of a run. If it throws, the attempt fails. */
  onStart?: (args: HookArguments<TPayload>) => unknown;
  /** Runs before each attempt. If it throws, the attempt fails. */
  onStartAttempt?: (args: HookArguments<TPayload>) => unknown;
  /** Runs after an attempt that returned. */
  onSuccess?: (args: SuccessArguments<TPayload, TOutput>) => unknown;
  /** Runs after the last attempt if it failed. */
  onFailure?: (args: FailureArguments<TPayload>) => unknown;
  /** Runs immediately when an executing run is canceled, while its code stops. */
  onCancel?: (args: CancelArguments<TPayload>) => unknown;
  /** Runs at the end of a run that has executed, after the hook for its outcome. */
  onComplete?: (args: CompleteArguments<TPayload, TOutput>) => unknown;
  /** Runs after each failed attempt and decides what happens next. The task's own hook comes first; the first result applies. */
  catchError?: (args: CatchErrorArguments<TPayload>) => CatchErrorResult | Promise<CatchErrorResult>;
}

export type HookName = keyof Hooks;
export type HookOf<K extends HookName> = NonNullable<Hooks[K]>;
