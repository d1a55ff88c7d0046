import { asksToAbort } from '../retry/abort-task-run-error.ts';
import { retryDelay, type RetryOptions } from '../retry/backoff.ts';
import { hookLimitMs, within, type HookCalls } from './call.ts';
import { globalHooks } from './global.ts';
import type { CatchErrorResult } from './types.ts';

/** The consequence of a failed attempt: a retry after a delay, or none. */
export interface AfterError {
  readonly error: unknown;
  readonly delayMs: number | undefined;
  /** Whether the code ruled out further attempts. */
  readonly isFinal?: boolean;
}

export interface FailedAttempt {
  readonly thrown: unknown;
  readonly attempt: number;
  /** Includes the `maxAttempts` of the run. */
  readonly retry: RetryOptions & { readonly maxAttempts: number };
}

/** Follows the task's rules, unless a `catchError` hook overrides them. */
export async function afterError(
  calls: HookCalls,
  { thrown, attempt, retry }: FailedAttempt,
): Promise<AfterError> {
  // AbortTaskRunError is final.
  if (asksToAbort(thrown)) return { error: thrown, delayMs: undefined, isFinal: true };
  const byRules = retryDelay(retry, attempt, Math.random);
  const result = await askHooks(calls, { error: thrown, retry, retryDelayInMs: byRules });
  if (!result) return { error: thrown, delayMs: byRules };
  const error = 'error' in result && result.error !== undefined ? result.error : thrown;
  if (result.skipRetrying) return { error, delayMs: undefined, isFinal: true };
  if (byRules === undefined) return { error, delayMs: undefined };
  return { error, delayMs: requestedDelay(result, attempt, retry) ?? byRules };
}

function requestedDelay(
  result: Exclude<CatchErrorResult, undefined | void>,
  attempt: number,
  retry: FailedAttempt['retry'],
): number | undefined {
  const { retryAt, retryDelayInMs, retry: other } = result;
  const requested =
    retryAt instanceof Date
      ? retryAt.getTime() - Date.now()
      : (retryDelayInMs ??
        (other && retryDelay({ ...other, maxAttempts: retry.maxAttempts }, attempt, Math.random)));
  return requested === undefined || !Number.isFinite(requested)
    ? undefined
    : Math.max(0, Math.round(requested));
}

async function askHooks(
  { own, args, warn }: HookCalls,
  more: { error: unknown; retry: RetryOptions; retryDelayInMs: number | undefined },
): Promise<CatchErrorResult> {
  for (const hook of [...(own.catchError ? [own.catchError] : []), ...globalHooks('catchError')]) {
    let result: CatchErrorResult;
    try {
      const inTime = await within(hookLimitMs, async () => {
        result = await hook({ ...args, ...more });
      });
      if (!inTime) warn(`catchError took longer than ${hookLimitMs / 1_000} s: the task's own rules apply.`);
    } catch (thrown) {
      warn("catchError failed: the task's own rules apply", thrown);
    }
    if (typeof result === 'object' && result !== null) return result;
    if (result !== undefined && result !== null) {
      warn(`catchError returned a ${typeof result}, not an object: the task's own rules apply.`);
    }
  }
  return undefined;
}
