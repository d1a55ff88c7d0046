import { AsyncLocalStorage } from 'node:async_hooks';
import type { Outcome, Wait } from '@millrace/contract/runner';
import { ApiClient } from '../client/api-client.ts';
import { MetadataBuffer, MetadataRefused } from '../metadata/buffer.ts';
import { runScopes, type RunScope } from '../run-scope.ts';
import type { ExecuteOptions } from './options.ts';
import { runAttempt } from './run-attempt.ts';

// From here on this process is one that executes runs.
const scopes = runScopes(() => new AsyncLocalStorage<RunScope>());

/**
 * Runs one attempt inside its own async context, and waits until its code has ended, also when the signal is aborted: to stop
 * code that does not listen is the executor's part. Never rejects.
 *
 * Aborted with `canceled`, the outcome is canceled; with `maxDuration`, TIMED_OUT; whatever the code did then.
 */
export async function execute(options: ExecuteOptions): Promise<Outcome> {
  const { assignment, signal, onLog, onWait } = options;
  const calls = new Set<Promise<void>>();
  let metadata: MetadataBuffer | undefined;
  const scope: RunScope = {
    run: assignment.run,
    attempt: assignment.attempt,
    fence: assignment.fence,
    credential: options.credential,
    calls,
    signal,
    onLog,
    waits: onWait && { counts: new Map(), begin: (wait) => beginWait(onWait, wait, metadata, signal) },
    locals: new Map(),
    heard: options.heard,
    // Most attempts never ask for it.
    get metadata() {
      return (metadata ??= metadataOf(options, scope));
    },
  };
  const outcome = await scopes.run(scope, () => runAttempt(options));
  while (calls.size > 0) await Promise.all(calls);
  await metadata?.end();
  return outcome;
}

/** So long a wait is put off, in milliseconds, while changes of metadata cannot be told. */
const tellMs = 60_000;
const againMs = 500;

/**
 * Whoever sees that the run waits sees what it told before: its changes of metadata are with the server when the wait begins. Where there
 * are none it begins at once.
 */
function beginWait(
  onWait: (wait: Wait) => Promise<void>,
  wait: Wait,
  metadata: MetadataBuffer | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!metadata?.isPending) return onWait(wait);
  const tell = async (): Promise<void> => {
    const until = Date.now() + tellMs;
    await metadata.flush();
    while (metadata.isPending && !signal.aborted && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, againMs));
      await metadata.flush();
    }
  };
  return tell().then(() => onWait(wait));
}

/** Told with the run's own credential, whatever the author's code has configured. */
function metadataOf({ assignment, onLog }: ExecuteOptions, scope: RunScope): MetadataBuffer {
  let client: ApiClient | undefined;
  return new MetadataBuffer({
    initial: assignment.metadata,
    warn: (message) => onLog({ at: Date.now(), level: 'warn', message }),
    async tell(changes) {
      const through = (client ??= new ApiClient());
      try {
        const params = { runId: assignment.run };
        const body = { ...changes, fence: assignment.fence };
        // The last changes are told when its code has ended.
        const told = await scopes.run(scope, () => through.call('updateRunMetadata', { params, body }));
        return told.metadata;
      } catch (error) {
        const { status, message } = error as { status?: unknown; message: string };
        const isRefusal = typeof status === 'number' && status >= 400 && status < 500 && status !== 429;
        throw isRefusal ? new MetadataRefused(message) : error;
      }
    },
  });
}
