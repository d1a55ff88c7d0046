import { serializeError } from '../executor/serialize-error.ts';
import { parseDuration } from '../duration.ts';
import { encode, type Encoded } from '../payload/encode.ts';
import { decode } from '../payload/decode.ts';
import { asksToAbort } from '../retry/abort-task-run-error.ts';
import { retryDelay, type RetryOptions } from '../retry/backoff.ts';
import { inScope, withinAttempt, type RunScope } from '../run-scope.ts';
import { pause } from '../runs/pause.ts';
import { revivedError } from '../task/revived-error.ts';
import { idempotencyKeyOf } from './name.ts';
import { StepError, StepTimeoutError } from './step-error.ts';
import { ownSteps, type Steps } from './steps.ts';

/** Arguments for the function passed to `step.run`. */
export interface StepArguments {
  /** The same whenever this step of this run executes: pass it to external services, so that they do the work once. */
  readonly idempotencyKey: string;
  /** How many times the function has been called in this attempt, starting at 1. */
  readonly try: number;
  /** Aborted when the run must stop, or the step has exceeded its timeout. */
  readonly signal: AbortSignal;
}

export interface StepOptions {
  /** Calls the function again when it throws, within the attempt. Default: it is called once, and the run is retried by its task's rules. */
  retry?: RetryOptions;
  /** The maximum time of one call: seconds, or a duration such as `1m30s`. Default: no limit except that of the attempt. */
  timeout?: number | string;
  /** Declares that the step is not a stored one under another name: see "When code changes" in docs/steps.md. */
  isNew?: boolean;
}

/**
 * Runs a function once per run: its result is stored, and reused when the run is retried or its code executes again. The function may be called
 * again if the process dies before the result is stored, so pass the `idempotencyKey` to external services. A step that fails throws a
 * StepError, whose `cause` is the original error. A result may be anything that a task output may be, up to 10 MiB.
 *
 * @example
 * const charge = await step.run('charge', ({ idempotencyKey }) => payments.charge(order, { idempotencyKey }));
 */
export async function run<T>(
  name: string,
  act: (args: StepArguments) => T | Promise<T>,
  options: StepOptions = {},
): Promise<T> {
  const steps = ownSteps('step.run');
  if (typeof act !== 'function')
    throw new TypeError(
      `step.run requires a function after the name, such as step.run('charge', async () => …).`,
    );
  const timeoutMs = readTimeout(options.timeout);
  return withinAttempt(() =>
    steps.enter<T>(
      { kind: 'RUN', name, isNew: options.isNew },
      async (stored) => {
        if (stored.status === 'COMPLETED') return (await steps.resultOf(stored)) as T;
        const { error = { message: 'It failed.' } } = stored;
        throw new StepError(
          stored.name,
          revivedError(await steps.openError(stored.name, error)),
          error['isFinal'] === true,
        );
      },
      (key) => execute(steps, key, act, options.retry, timeoutMs),
    ),
  );
}

function readTimeout(timeout: unknown): number | undefined {
  if (timeout === undefined) return undefined;
  const seconds = typeof timeout === 'string' ? parseDuration(timeout) : timeout;
  if (typeof seconds === 'number' && seconds > 0 && seconds * 1_000 < 2 ** 31) return seconds * 1_000;
  throw new TypeError(
    'step.run: timeout must be seconds above 0, or a duration such as 30s or 1m30s, of at most 24 days.',
  );
}

async function execute<T>(
  steps: Steps,
  key: string,
  act: (args: StepArguments) => T | Promise<T>,
  retry: RetryOptions | undefined,
  timeoutMs: number | undefined,
): Promise<T> {
  const { scope } = steps;
  const idempotencyKey = await idempotencyKeyOf(scope.run, key);
  const from = performance.now();
  let tries = 0;

  const fail = async (thrown: unknown, isFinal: boolean): Promise<never> => {
    const serialized = serializeError(thrown);
    const cause = thrown instanceof Error ? thrown : new Error(serialized.message, { cause: thrown });
    const sealed = await steps.sealError(key, serialized);
    const error = { ...sealed, ...(isFinal && { isFinal }) };
    await steps.store(key, { kind: 'RUN', status: 'FAILED', tries, tookMs: performance.now() - from, error });
    throw new StepError(key, cause, isFinal);
  };

  for (;;) {
    tries += 1;
    let value: T;
    try {
      value = await callOnce(scope, key, act, { idempotencyKey, try: tries }, timeoutMs);
    } catch (thrown) {
      // After a stop signal, the failure has no meaning.
      if (scope.signal?.aborted) throw thrown;
      const isFinal = asksToAbort(thrown);
      const delayMs = isFinal || !retry ? undefined : retryDelay(retry, tries, Math.random);
      if (delayMs === undefined) return fail(thrown, isFinal);
      await pause(delayMs, scope.signal);
      continue;
    }
    let encoded: Encoded;
    try {
      encoded = encode(value, `result of step "${key}"`);
    } catch (error) {
      // The work is done, so a retry would repeat it and fail here again.
      return fail(error, true);
    }
    const { text, type } = encoded;
    try {
      const { text: output, type: outputType } = await steps.seal(key, encoded);
      await steps.store(key, {
        kind: 'RUN',
        status: 'COMPLETED',
        tries,
        tookMs: performance.now() - from,
        ...(output !== undefined && { output, outputType }),
      });
    } catch (error) {
      const { status } = error as { status?: unknown };
      if (status === 413 || status === 422 || status === 400) return fail(error, true);
      throw error;
    }
    // The value that later executions of the code read.
    return decode(text ?? null, type) as T;
  }
}

async function callOnce<T>(
  scope: RunScope,
  key: string,
  act: (args: StepArguments) => T | Promise<T>,
  args: Omit<StepArguments, 'signal'>,
  timeoutMs: number | undefined,
): Promise<T> {
  const inside = Object.create(scope, { step: { value: key } }) as RunScope;
  const own = new AbortController();
  const signal = scope.signal ? AbortSignal.any([scope.signal, own.signal]) : own.signal;
  const called = inScope(inside, async () => act({ ...args, signal }));
  if (timeoutMs === undefined) return called;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new StepTimeoutError(`It took longer than its timeout of ${timeoutMs / 1_000} s.`);
      own.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    return await Promise.race([called, late]);
  } finally {
    clearTimeout(timer);
  }
}
