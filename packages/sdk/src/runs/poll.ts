import { currentClient } from '../client/current-client.ts';
import type { AnyTask, RunHandle, TaskOutput } from '../task/types.ts';
import { pause } from './pause.ts';
import { retrieveThrough } from './retrieve.ts';
import { runId, type Run, type RunReference } from './run.ts';

/** How `runs.poll` waits. */
export interface PollOptions {
  /** Milliseconds between two polls. Default 1,000. */
  pollIntervalMs?: number;
  /** The time after which a PollTimeoutError is thrown, in milliseconds. Default: no limit. */
  timeoutInMs?: number;
  /** Stops waiting; the promise rejects with the signal's reason. The run continues. */
  signal?: AbortSignal;
}

/** The run did not end within `timeoutInMs`. `run` is its last known state. */
export class PollTimeoutError extends Error {
  override readonly name = 'PollTimeoutError';
  readonly run: Run;

  constructor(run: Run, timeoutInMs: number) {
    super(`Run ${run.id} is still ${run.status} after ${timeoutInMs / 1_000} s`);
    this.run = run;
  }
}

/**
 * Waits until a run has ended, with any outcome, and returns it. Check `isSuccess`. Throws the same errors as `runs.retrieve`.
 *
 * @example
 * const run = await runs.poll(await resizeImage.trigger({ url }), { pollIntervalMs: 250 });
 * if (run.isFailed) throw new Error(run.error?.message);
 */
export function poll<TOutput>(
  handle: RunHandle<string, TOutput>,
  options?: PollOptions,
): Promise<Run<TOutput>>;
export function poll(run: RunReference, options?: PollOptions): Promise<Run>;
export function poll<T extends AnyTask>(id: RunReference, options?: PollOptions): Promise<Run<TaskOutput<T>>>;
export async function poll(
  reference: RunReference,
  { pollIntervalMs = 1_000, timeoutInMs = Number.POSITIVE_INFINITY, signal }: PollOptions = {},
): Promise<Run> {
  const client = currentClient();
  const id = runId(reference);
  const startedAt = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const run = await retrieveThrough(client, id, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    if (run.isCompleted) return run;
    const left = timeoutInMs - (performance.now() - startedAt);
    if (left <= 0) throw new PollTimeoutError(run, timeoutInMs);
    await pause(Math.min(pollIntervalMs, left), signal);
  }
}
