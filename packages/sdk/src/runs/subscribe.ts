import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { pathOf, type QueryValue } from '../client/path.ts';
import type { AnyTask, RunHandle, TaskOutput } from '../task/types.ts';
import { codecOf } from '../sealing/codec.ts';
import { followRuns } from './follow.ts';
import { openRun } from './open-run.ts';
import { dated, runId, type Run, type RunReference } from './run.ts';

/** A run as its subscribers receive it: like `Run`, without its relations. */
export type WatchedRun<TOutput = unknown> = Omit<
  Run<TOutput>,
  'relatedRuns' | 'queue' | 'schedule' | 'event' | 'variablesRevision' | 'erasedAt'
> & {
  /** The names of its streams. Undefined while it has none. */
  streams?: readonly string[];
};

export interface SubscribeOptions {
  /** Columns to leave out, such as `payload`, `output` or `metadata`: they are not sent, and are missing from the run. */
  skipColumns?: readonly string[];
  /** Ends the subscription. */
  signal?: AbortSignal;
}

export interface SubscribeToTagOptions extends SubscribeOptions {
  /** Only runs of these tasks. */
  tasks?: string | readonly string[];
  /** Only runs that are not older than this: a duration such as `30m` or `24h`, at most seven days. Default `24h`. */
  createdAt?: string;
}

/**
 * The current state of the run, then its state after each change until it has ended; the last one is the final state. Rapid changes may be
 * combined. A broken connection is reopened without loss. In a browser, use a public token that can read the run.
 *
 * @example
 * for await (const run of runs.subscribeToRun(handle)) {
 *   show(run.status, run.metadata?.progress);
 * }
 */
export function subscribeToRun<TOutput>(
  handle: RunHandle<string, TOutput>,
  options?: SubscribeOptions,
): AsyncGenerator<WatchedRun<TOutput>, void, undefined>;
export function subscribeToRun<T extends AnyTask>(
  run: RunReference,
  options?: SubscribeOptions,
): AsyncGenerator<WatchedRun<TaskOutput<T>>, void, undefined>;
export function subscribeToRun(
  run: RunReference,
  options: SubscribeOptions = {},
): AsyncGenerator<WatchedRun, void, undefined> {
  return followRunThrough(currentClient(), runId(run), options);
}

/**
 * The runs that have all of the tags: existing runs, then each new or changed run, until the signal is aborted or the loop is left. A run may
 * be repeated.
 *
 * @example
 * for await (const run of runs.subscribeToRunsWithTag(`order:${id}`, { createdAt: '1h' })) {
 *   update(run.id, run.status);
 * }
 */
export function subscribeToRunsWithTag<T extends AnyTask>(
  tag: string | readonly string[],
  options: SubscribeToTagOptions = {},
): AsyncGenerator<WatchedRun<TaskOutput<T>>, void, undefined> {
  return followTagThrough(currentClient(), tag, options) as AsyncGenerator<WatchedRun<TaskOutput<T>>>;
}

/**
 * The runs of a batch: their current state, then each change, until all have ended.
 *
 * @example
 * for await (const run of runs.subscribeToBatch(batch.batchId)) update(run.id, run.status);
 */
export function subscribeToBatch<T extends AnyTask>(
  batchId: string,
  options: SubscribeOptions = {},
): AsyncGenerator<WatchedRun<TaskOutput<T>>, void, undefined> {
  return followBatchThrough(currentClient(), batchId, options) as AsyncGenerator<WatchedRun<TaskOutput<T>>>;
}

/** The same as `subscribeToRun`, through the given client. */
export const followRunThrough = (
  client: ApiClient,
  run: string,
  options: SubscribeOptions,
): AsyncGenerator<WatchedRun, void, undefined> => subscribe(client, 'followRun', { runId: run }, {}, options);

/** The same as `subscribeToRunsWithTag`, through the given client. */
export function followTagThrough(
  client: ApiClient,
  tag: string | readonly string[],
  { tasks, createdAt, ...options }: SubscribeToTagOptions,
): AsyncGenerator<WatchedRun, void, undefined> {
  const listed = (values: string | readonly string[] | undefined) =>
    typeof values === 'string' ? values : values?.join(',');
  const query = { tags: listed(tag), tasks: listed(tasks), createdAt };
  return subscribe(client, 'followRuns', {}, query, options);
}

/** The same as `subscribeToBatch`, through the given client. */
export const followBatchThrough = (
  client: ApiClient,
  batchId: string,
  options: SubscribeOptions,
): AsyncGenerator<WatchedRun, void, undefined> => subscribe(client, 'followBatch', { batchId }, {}, options);

async function* subscribe(
  client: ApiClient,
  operation: 'followRun' | 'followRuns' | 'followBatch',
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, QueryValue>>,
  { skipColumns, signal }: SubscribeOptions,
): AsyncGenerator<WatchedRun, void, undefined> {
  const path = pathOf(operation, params, { ...query, skipColumns: skipColumns?.join(',') });
  for await (const run of followRuns(client, path, signal)) {
    const withDates = dated(run as Parameters<typeof dated>[0]) as WatchedRun;
    yield await openRun(codecOf(client), withDates);
  }
}
