import { AsyncLocalStorage } from 'node:async_hooks';
import type { Outcome, Wait } from '@millrace/contract/runner';
import { ApiClient } from '../client/api-client.ts';
import { MetadataBuffer, MetadataRefused } from '../metadata/buffer.ts';
import { sealChanges } from '../metadata/seal-operation.ts';
import { runScopes, type RunScope } from '../run-scope.ts';
import { processCodec, SealedError } from '../sealing/codec.ts';
import { openDeep, openMetadata } from '../sealing/values.ts';
import type { ExecuteOptions } from './execute-options.ts';
import { failed } from './outcome.ts';
import { runAttempt } from './run-attempt.ts';
import { sealOutcome } from './seal-outcome.ts';
import { internalError } from './serialize-error.ts';
import { pause } from '../runs/pause.ts';

// Marks this process as an executor.
const scopes = runScopes(() => new AsyncLocalStorage<RunScope>());

/**
 * Runs one attempt in its own async context and waits until its code has ended, even after an abort; the executor must stop code that
 * ignores the signal. Never rejects.
 *
 * If aborted with `canceled`, the outcome is canceled; with `maxDuration`, it is TIMED_OUT, regardless of the result of the code.
 */
export async function execute(options: ExecuteOptions): Promise<Outcome> {
  const { assignment, signal, onLog, onWait } = options;
  const calls = new Set<Promise<void>>();
  let metadata: MetadataBuffer | undefined;
  const initial = maySealInside(assignment.metadata)
    ? await opened(assignment.metadata)
    : assignment.metadata;
  if (initial instanceof SealedError) return failed(internalError(initial.name, initial.message));
  const scope: RunScope = {
    run: assignment.run,
    task: assignment.task,
    attempt: assignment.attempt,
    version: assignment.version,
    fence: assignment.fence,
    credential: options.credential,
    calls,
    signal,
    onLog,
    onSpan: options.onSpan,
    traceparent: assignment.traceparent ?? undefined,
    waits: onWait && { counts: new Map(), begin: (wait) => beginWait(onWait, wait, metadata, signal) },
    locals: new Map(),
    consumed: options.consumed,
    isGone: options.isGone,
    // Created lazily, because most attempts never use it. Not a getter, because V8 creates a hidden class for each getter of a literal,
    // which keeps the attempt in memory until the next full garbage collection.
    metadata: () => (metadata ??= metadataOf(options, scope, initial)),
  };
  const outcome = await scopes.run(scope, () => runAttempt(options));
  for (const message of scope.steps?.end(outcome.kind === 'completed') ?? [])
    onLog({ at: Date.now(), level: 'warn', message });
  while (calls.size > 0) {
    await Promise.all(calls);
    // Node.js reports an unhandled rejection after the microtasks. The attempt that caused it must still exist then.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await metadata?.end();
  const codec = processCodec();
  return codec ? sealOutcome(codec, assignment.run, outcome) : outcome;
}

/** Whether a text may contain a sealed value. */
const maySealInside = (text: string | null): text is string => text?.includes('"$sealed"') === true;

/** The decrypted metadata of a run. */
async function opened(text: string): Promise<string | SealedError> {
  try {
    return JSON.stringify(await openDeep(processCodec(), JSON.parse(text) as unknown, 'metadata'));
  } catch (error) {
    return error instanceof SealedError ? error : new SealedError((error as Error).message);
  }
}

/** Maximum delay of a wait, in milliseconds, while metadata cannot be sent. */
const maxSendMs = 60_000;
const againMs = 500;

/**
 * Sends pending metadata before a wait begins, so that observers of a waiting run see it. Without pending metadata the wait begins immediately.
 */
function beginWait(
  onWait: (wait: Wait) => Promise<void>,
  wait: Wait,
  metadata: MetadataBuffer | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!metadata?.isPending) return onWait(wait);
  const sendPending = async (): Promise<void> => {
    const until = Date.now() + maxSendMs;
    await metadata.flush();
    while (metadata.isPending && !signal.aborted && Date.now() < until) {
      await pause(againMs);
      await metadata.flush();
    }
  };
  return sendPending().then(() => onWait(wait));
}

/** Uses the run's own credential, regardless of the configuration in the task's code. */
function metadataOf(
  { assignment, onLog }: ExecuteOptions,
  scope: RunScope,
  initial: string | null,
): MetadataBuffer {
  let client: ApiClient | undefined;
  return new MetadataBuffer({
    initial,
    warn: (message) => onLog({ at: Date.now(), level: 'warn', message }),
    async send(changes) {
      const through = (client ??= new ApiClient());
      try {
        const params = { runId: assignment.run };
        const codec = processCodec();
        const sent = codec ? await sealChanges(codec, changes) : changes;
        const body = { ...sent, fence: assignment.fence };
        // The last changes are sent after the code has ended.
        const response = await scopes.run(scope, () => through.call('updateRunMetadata', { params, body }));
        return await openMetadata(codec, response.metadata);
      } catch (error) {
        const { status, message } = error as { status?: unknown; message: string };
        const isRefusal = typeof status === 'number' && status >= 400 && status < 500 && status !== 429;
        throw isRefusal ? new MetadataRefused(message) : error;
      }
    },
  });
}
