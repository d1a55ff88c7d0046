import { AsyncLocalStorage } from 'node:async_hooks';
import type { Assignment, EnvironmentFacts, Outcome, SerializedError } from '@millrace/contract/runner';
import { encode, type UnserializableError } from '../payload/encode.ts';
import { asksToAbort } from '../retry/abort-task-run-error.ts';
import { retryDefaults, retryDelay } from '../retry/backoff.ts';
import { runScopes, type RunLogLine, type RunScope } from '../run-scope.ts';
import { taskBrand, type AnyTask } from '../task/types.ts';
import { contextOf } from './context-of.ts';
import { PayloadError, payloadOf } from './payload.ts';
import { internalError, serializeError } from './serialize-error.ts';

/** With what reason the executor aborts an attempt's signal. */
export type AbortReason =
  | { readonly kind: 'canceled' }
  /** `seconds` is the limit that was passed. */
  | { readonly kind: 'maxDuration'; readonly seconds: number };

/** What is the same for all attempts of a version. */
export interface RunContextFacts {
  readonly environment: EnvironmentFacts;
}

export interface ExecuteOptions extends RunContextFacts {
  readonly task: AnyTask;
  readonly assignment: Assignment;
  /** Aborted by the executor with an AbortReason. */
  readonly signal: AbortSignal;
  /** Takes the lines that the run's code logs. */
  readonly onLog: (line: RunLogLine) => void;
  /** Where the task is declared, for `ctx.task.filePath`. Default: empty. */
  readonly filePath?: string;
}

/** Largest output in bytes: 10 MiB. */
export const outputLimit = 10 * 1024 * 1024;

const failed = (error: SerializedError): Outcome => ({ kind: 'failed', status: 'FAILED', error });

/** The outcome that the abort of a signal decides; undefined when it was not aborted, or for another reason. */
function abortedOutcome(signal: AbortSignal): Outcome | undefined {
  const reason = signal.aborted ? (signal.reason as Partial<AbortReason> | undefined) : undefined;
  if (reason?.kind === 'canceled') return { kind: 'canceled' };
  if (reason?.kind !== 'maxDuration') return undefined;
  const message = `The attempt took longer than its maxDuration of ${reason.seconds} s`;
  return { kind: 'failed', status: 'TIMED_OUT', error: internalError('MaxDurationExceeded', message) };
}

function completed(value: unknown): Outcome {
  try {
    const { text, type } = encode(value, 'output');
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    if (bytes <= outputLimit) return { kind: 'completed', output: text ?? null, outputType: type };
    const message = `The output has ${bytes} bytes; at most ${outputLimit} are kept. Store it elsewhere and return where.`;
    return failed(internalError('OutputTooLargeError', message));
  } catch (error) {
    // The work is done: another attempt would do it again and fail here again.
    const { message } = error as UnserializableError;
    return failed(internalError('OutputUnserializableError', message));
  }
}

async function attempt({
  task,
  assignment,
  environment,
  signal,
  filePath = '',
}: ExecuteOptions): Promise<Outcome> {
  const definition = task[taskBrand];
  const retry = definition.retry ?? {};
  const maxAttempts = assignment.maxAttempts ?? retry.maxAttempts ?? retryDefaults.maxAttempts;
  let output: unknown;
  try {
    const payload = await payloadOf(definition, assignment);
    const aborted = abortedOutcome(signal);
    if (aborted) return aborted;
    const maxDuration = assignment.maxDuration ?? definition.maxDuration;
    const ctx = contextOf({
      assignment,
      environment,
      filePath,
      maxAttempts,
      maxDuration,
      startedAt: new Date(),
    });
    output = await definition.run(payload, { ctx, signal });
  } catch (thrown) {
    const aborted = abortedOutcome(signal);
    if (aborted) return aborted;
    if (thrown instanceof PayloadError) return failed(internalError(thrown.name, thrown.message));
    const error = serializeError(thrown);
    const delayMs = asksToAbort(thrown)
      ? undefined
      : retryDelay({ ...retry, maxAttempts }, assignment.attempt, Math.random);
    return delayMs === undefined ? failed(error) : { kind: 'retry', delayMs, error };
  }
  // Code that ended in the grace period after an abort: what was asked for counts, not that it was nearly done.
  return abortedOutcome(signal) ?? completed(output);
}

/**
 * Runs one attempt inside its own async context, and waits until its code has ended, also when the signal is aborted: to stop
 * code that does not listen is the executor's part. Never rejects.
 *
 * Aborted with `canceled`, the outcome is canceled; with `maxDuration`, TIMED_OUT; whatever the code did then.
 */
export function execute(options: ExecuteOptions): Promise<Outcome> {
  const { assignment, onLog } = options;
  const scope: RunScope = { run: assignment.run, attempt: assignment.attempt, onLog };
  return runScopes(() => new AsyncLocalStorage<RunScope>()).run(scope, () => attempt(options));
}
