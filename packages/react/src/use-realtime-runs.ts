import {
  followBatchThrough,
  followTagThrough,
  type AnyTask,
  type ApiClient,
  type TaskOutput,
  type WatchedRun,
} from '@millrace/sdk/frontend';
import { useConnection } from './connection.ts';
import { throttleOf, type SubscribeHookOptions } from './options.ts';
import { useSubscription } from './subscription.ts';

/** Options of hooks that follow several runs. */
export interface UseRealtimeRunsOptions extends SubscribeHookOptions {
  /** Columns that are not sent, such as `payload` or `output`. */
  skipColumns?: readonly string[] | undefined;
}

export interface UseRealtimeRunsWithTagOptions extends UseRealtimeRunsOptions {
  /** Only runs that are not older: a duration such as `30m` or `24h`, at most seven days. Default `24h`. */
  createdAt?: string | undefined;
  /** Only runs of these tasks. */
  tasks?: string | readonly string[] | undefined;
}

export interface RealtimeRuns<TOutput = unknown> {
  /** The runs in the order of their creation. */
  readonly runs: WatchedRun<TOutput>[];
  /** Why the subscription ended. Never thrown. */
  readonly error: Error | undefined;
  /** Ends the subscription. */
  readonly stop: () => void;
}

const none: WatchedRun[] = [];

/** The runs with a new state of one of them. */
function withRun(runs: readonly WatchedRun[], run: WatchedRun): WatchedRun[] {
  if (runs.some(({ id }) => id === run.id)) return runs.map((known) => (known.id === run.id ? run : known));
  const later = runs.findIndex(({ createdAt }) => createdAt > run.createdAt);
  return later === -1 ? [...runs, run] : [...runs.slice(0, later), run, ...runs.slice(later)];
}

function useRuns<TOutput>(
  subject: string | undefined,
  options: UseRealtimeRunsOptions,
  follow: (client: ApiClient, signal: AbortSignal) => AsyncGenerator<WatchedRun>,
): RealtimeRuns<TOutput> {
  const { value, error, stop } = useSubscription<WatchedRun[]>({
    subject,
    enabled: options.enabled,
    connection: useConnection(options),
    initial: none,
    throttleInMs: throttleOf(options),
    async follow({ client, signal, begin, update }) {
      let runs = begin;
      for await (const run of follow(client, signal)) {
        runs = withRun(runs, run);
        update(() => runs);
      }
    },
  });
  const typed = value as WatchedRun<TOutput>[];
  return { runs: typed, error, stop };
}

/**
 * Follows the runs that have a tag, or all of several tags: existing runs and new ones.
 *
 * @example
 * const { runs, error } = useRealtimeRunsWithTag<typeof resizeImage>(`user:${userId}`, { createdAt: '1h' });
 */
export function useRealtimeRunsWithTag<T extends AnyTask = AnyTask>(
  tag: string | readonly string[],
  options: UseRealtimeRunsWithTagOptions = {},
): RealtimeRuns<TaskOutput<T>> {
  const { createdAt, tasks, skipColumns } = options;
  return useRuns<TaskOutput<T>>(
    JSON.stringify(['tag', tag, createdAt, tasks, skipColumns]),
    options,
    (client, signal) => followTagThrough(client, tag, { createdAt, tasks, skipColumns, signal }),
  );
}

/**
 * Follows the runs of a batch until all have ended.
 *
 * @example
 * const { runs, error } = useRealtimeBatch<typeof resizeImage>(batchId);
 */
export function useRealtimeBatch<T extends AnyTask = AnyTask>(
  batchId: string | undefined,
  options: UseRealtimeRunsOptions = {},
): RealtimeRuns<TaskOutput<T>> {
  const { skipColumns } = options;
  return useRuns<TaskOutput<T>>(
    batchId ? JSON.stringify(['batch', batchId, skipColumns]) : undefined,
    options,
    (client, signal) => followBatchThrough(client, batchId ?? '', { skipColumns, signal }),
  );
}
