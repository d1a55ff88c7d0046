import { AsyncLocalStorage } from 'node:async_hooks';
import { largerMachine } from '@millrace/contract/larger-machine';
import type { Outcome } from '@millrace/contract/runner';
import { callAll, callWatching, hasHooks, type HookCalls } from '../hooks/call.ts';
import { afterError } from '../hooks/catch-error.ts';
import { throughMiddleware } from '../hooks/middleware.ts';
import { asksToAbort } from '../retry/abort-task-run-error.ts';
import { isOutOfMemory } from '../retry/out-of-memory-error.ts';
import { retryDefaults, retryDelay } from '../retry/backoff.ts';
import { callTaskOfMillrace } from '../step/awaited-alone.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { taskBrand } from '../task/types.ts';
import { contextOf } from './context-of.ts';
import { endOfSession } from './end-of-session.ts';
import type { AbortReason, ExecuteOptions } from './execute-options.ts';
import { abortedOutcome, completed, failed } from './outcome.ts';
import { PayloadError, payloadOf } from './payload.ts';
import { internalError, serializeError } from './serialize-error.ts';

/** The result of an attempt's code. */
type CodeResult =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly thrown: unknown };

/** Parses the payload, calls middleware, hooks and `run` in order, and then the hooks for the result. Never rejects. */
export async function runAttempt(options: ExecuteOptions): Promise<Outcome> {
  const { task, assignment, environment, signal, filePath = '', onLog, aside = false } = options;
  const definition = task[taskBrand];
  const maxAttempts = assignment.maxAttempts ?? definition.retry?.maxAttempts ?? retryDefaults.maxAttempts;
  const retry = { ...definition.retry, maxAttempts };
  const maxDuration = assignment.maxDuration ?? definition.maxDuration;
  const startedAt = new Date();
  const ctx = contextOf({ assignment, environment, filePath, maxAttempts, maxDuration, startedAt });
  const warn: HookCalls['warn'] = (sentence, thrown) => {
    const error = thrown === undefined ? undefined : serializeError(thrown);
    const message = error ? `${sentence}: ${error.name}: ${error.message}` : sentence;
    const properties = error && JSON.stringify({ stack: error.stackTrace });
    onLog({ at: Date.now(), level: 'warn', message, ...(properties !== undefined && { properties }) });
  };
  const attempt: Attempt = {
    definition,
    machine: assignment.machine ?? definition.machine,
    calls: { own: definition, args: { payload: undefined, ctx, signal, task: task.id }, warn },
    number: assignment.attempt,
    retry,
    aside,
  };

  let payload: unknown;
  try {
    payload = await payloadOf(definition, assignment);
  } catch (thrown) {
    const aborted = abortedOutcome(signal);
    if (aborted) return aborted;
    // No hooks are called, because they require a valid payload.
    if (thrown instanceof PayloadError) return failed(internalError(thrown.name, thrown.message));
    return byRules(attempt, thrown);
  }
  const aborted = abortedOutcome(signal);
  if (aborted) return aborted;
  return runCode({ ...attempt, calls: { ...attempt.calls, args: { ...attempt.calls.args, payload } } });
}

interface Attempt {
  readonly definition: TaskDefinition;
  readonly calls: HookCalls;
  readonly number: number;
  /** The machine that it runs on. */
  readonly machine: string | undefined;
  readonly retry: Parameters<typeof afterError>[1]['retry'];
  readonly aside: boolean;
}

async function runCode(attempt: Attempt): Promise<Outcome> {
  const { definition, calls, number, aside } = attempt;
  const { payload, ctx, signal } = calls.args;
  const canceling = whenCanceled(calls);
  const timing = whenTimedOut(calls);
  let outcome: Outcome | undefined;
  const inner = async (): Promise<void> => {
    let result: CodeResult;
    try {
      if (!aside) {
        if (number === 1 && hasHooks(calls, 'onStart')) await callAll(calls, 'onStart');
        if (hasHooks(calls, 'onStartAttempt')) await callAll(calls, 'onStartAttempt');
      }
      // After a stop signal, the result of `run` is ignored.
      const output = abortedOutcome(signal)
        ? undefined
        : await callTaskOfMillrace(() => definition.run(payload, { ctx, signal }));
      result = { ok: true, output };
    } catch (thrown) {
      const sessionEnded = endOfSession(thrown, payload);
      result = sessionEnded === undefined ? { ok: false, thrown } : { ok: true, output: { sessionEnded } };
    }
    await canceling.stopped(result);
    outcome = (await timing.stopped()) ?? (await conclude(attempt, result));
  };
  try {
    await (aside || !hasHooks(calls, 'middleware') ? inner() : throughMiddleware(calls, inner));
  } catch (thrown) {
    if (outcome === undefined) {
      await canceling.stopped({ ok: false, thrown });
      return (await timing.stopped()) ?? conclude(attempt, { ok: false, thrown });
    }
    if (outcome.kind === 'completed') return abortedOutcome(signal) ?? byRules(attempt, thrown);
    calls.warn('A middleware failed after the task had', thrown);
  } finally {
    void timing.stopped();
  }
  return outcome ?? byRules(attempt, new Error('The task did not run.'));
}

/** Calls the cancellation hooks if the run is cancelled, in the context of the attempt, and waits for them at its end. */
function whenCanceled(calls: HookCalls) {
  if (!hasHooks(calls, 'onCancel')) return { stopped: async () => undefined };
  const { signal } = calls.args;
  let stop: (result: CodeResult) => void = () => undefined;
  let called: Promise<void> | undefined;
  const call = AsyncLocalStorage.bind(() => {
    if ((signal.reason as Partial<AbortReason> | undefined)?.kind !== 'canceled') return;
    const runPromise = new Promise<unknown>((resolve, reject) => {
      stop = (result) => (result.ok ? resolve(result.output) : reject(result.thrown));
    });
    runPromise.catch(() => undefined);
    called = callWatching(calls, 'onCancel', { runPromise });
  });
  if (signal.aborted) call();
  else signal.addEventListener('abort', call, { once: true });
  return {
    async stopped(result: CodeResult): Promise<void> {
      signal.removeEventListener('abort', call);
      stop(result);
      await called;
    },
  };
}

/**
 * How long, in milliseconds, code has to stop after `maxDuration`, before the hooks are called. If the code continues, the process is
 * killed a few seconds later, so the hooks cannot wait longer.
 */
const abortGraceMs = 1_000;

function whenTimedOut(calls: HookCalls) {
  if (!hasHooks(calls, 'onFailure') && !hasHooks(calls, 'onComplete'))
    return { stopped: async () => undefined };
  const { signal } = calls.args;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failure: Promise<Outcome> | undefined;
  const failWith = AsyncLocalStorage.bind((outcome: Extract<Outcome, { kind: 'failed' }>) => {
    failure = failAs(calls, outcome);
  });
  const wait = (): void => {
    const outcome = abortedOutcome(signal);
    if (outcome?.kind === 'failed') timer = setTimeout(() => failWith(outcome), abortGraceMs);
  };
  signal.addEventListener('abort', wait, { once: true });
  return {
    /** The result, if the hooks were called. */
    async stopped(): Promise<Outcome | undefined> {
      signal.removeEventListener('abort', wait);
      clearTimeout(timer);
      return failure;
    },
  };
}

/** Decides the outcome and calls the hooks, which cannot change it. */
async function conclude(attempt: Attempt, result: CodeResult): Promise<Outcome> {
  const { calls } = attempt;
  const { signal } = calls.args;
  const aborted = abortedOutcome(signal);
  if (aborted?.kind === 'canceled') {
    if ((signal.reason as AbortReason).kind === 'settled') return aborted;
    const error = Object.assign(new Error('The run was canceled.'), { name: 'RunCanceled' });
    await callWatching(calls, 'onComplete', { result: { ok: false, error } });
    return aborted;
  }
  // The cancellation takes precedence, even if the code had almost ended.
  const outcome =
    aborted ?? (result.ok ? completed(result.output, attempt.definition.lossyOutput) : undefined);
  if (outcome?.kind === 'completed' && result.ok) {
    if (hasHooks(calls, 'onSuccess')) await callWatching(calls, 'onSuccess', { output: result.output });
    if (hasHooks(calls, 'onComplete')) {
      await callWatching(calls, 'onComplete', { result: { ok: true, data: result.output } });
    }
    return outcome;
  }
  if (outcome?.kind === 'failed') return failAs(calls, outcome);
  const thrown = result.ok ? undefined : result.thrown;
  if (isOutOfMemory(thrown)) {
    const next = afterOutOfMemory(attempt, thrown);
    return next.kind === 'retry' ? next : fail(calls, thrown, next);
  }
  const { error, delayMs, isFinal } = await afterError(calls, {
    thrown,
    attempt: attempt.number,
    retry: attempt.retry,
  });
  const serialized = serializeError(error);
  if (delayMs !== undefined) return { kind: 'retry', delayMs, error: serialized };
  return fail(calls, error, failed({ ...serialized, ...(isFinal && { isFinal }) }));
}

function failAs(calls: HookCalls, outcome: Extract<Outcome, { kind: 'failed' }>): Promise<Outcome> {
  const { name, message } = outcome.error;
  return fail(calls, Object.assign(new Error(message), { name }), outcome);
}

async function fail(calls: HookCalls, error: unknown, outcome: Outcome): Promise<Outcome> {
  await callWatching(calls, 'onFailure', { error });
  await callWatching(calls, 'onComplete', { result: { ok: false, error } });
  return outcome;
}

/** Another attempt on the same machine would also run out of memory. */
function afterOutOfMemory({ definition, machine }: Attempt, thrown: unknown): Outcome {
  const error = serializeError(thrown);
  const larger = largerMachine(definition.retry, machine);
  return larger ? { kind: 'retry', ...larger, error } : failed(error);
}

/** Without calling hooks, which have already been called or cannot be called. */
function byRules(attempt: Attempt, thrown: unknown): Outcome {
  if (isOutOfMemory(thrown)) return afterOutOfMemory(attempt, thrown);
  const { number, retry } = attempt;
  const error = serializeError(thrown);
  if (asksToAbort(thrown)) return failed({ ...error, isFinal: true });
  const delayMs = retryDelay(retry, number, Math.random);
  return delayMs === undefined ? failed(error) : { kind: 'retry', delayMs, error };
}
