import {
  followRunThrough,
  readStreamThrough,
  type AnyTask,
  type RunHandle,
  type TaskOutput,
  type WatchedRun,
} from '@millrace/sdk/frontend';
import { useConnection } from './connection.ts';
import { throttleOf } from './options.ts';
import { useSubscription, type Link } from './subscription.ts';
import {
  runIdOf,
  useOnComplete,
  withTokenOf,
  type RealtimeRun,
  type RunArgument,
  type UseRealtimeRunOptions,
} from './use-realtime-run.ts';

/** The chunks of each stream. A stream is missing until its first chunk. */
export type StreamResults<TStreams> = { readonly [K in keyof TStreams]?: TStreams[K][] };

export interface RealtimeRunWithStreams<TOutput, TStreams> extends RealtimeRun<TOutput> {
  readonly streams: StreamResults<TStreams>;
}

interface Value {
  readonly run?: WatchedRun | undefined;
  readonly streams: Readonly<Record<string, unknown[]>>;
  /** The number of the last chunk of each stream. */
  readonly positions: Readonly<Record<string, number>>;
}

const nothing: Value = { streams: {}, positions: {} };

/**
 * Follows a run and all its streams until they end. Pass the types of the chunks by the names of the streams.
 *
 * @example
 * const { run, streams } = useRealtimeRunWithStreams<typeof chat, { answer: string }>(runId, { accessToken });
 * return <p>{streams.answer?.join('')}</p>;
 */
export function useRealtimeRunWithStreams<
  T extends AnyTask = AnyTask,
  TStreams extends object = Record<string, unknown>,
>(
  run?: string | RunHandle,
  options: UseRealtimeRunOptions<TaskOutput<T>> = {},
): RealtimeRunWithStreams<TaskOutput<T>, TStreams> {
  const id = runIdOf(run as RunArgument);
  const { skipColumns, stopOnCompletion } = options;
  const { value, error, stop } = useSubscription<Value>({
    subject: id && JSON.stringify([id, skipColumns, stopOnCompletion]),
    enabled: options.enabled,
    connection: useConnection(withTokenOf(run as RunArgument, options)),
    initial: nothing,
    throttleInMs: throttleOf(options),
    follow: (link) => followAll(link, id ?? '', { skipColumns, stopOnCompletion }),
  });
  const state = value.run as WatchedRun<TaskOutput<T>> | undefined;
  useOnComplete(state, options.onComplete);
  return { run: state, streams: value.streams as StreamResults<TStreams>, error, stop };
}

/** Follows the run, and each stream from the moment in which the run has it. */
async function followAll(
  link: Link<Value>,
  id: string,
  options: Pick<UseRealtimeRunOptions, 'skipColumns' | 'stopOnCompletion'>,
): Promise<void> {
  const { client, signal, value, update } = link;
  const reading = new Map<string, Promise<void>>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const follow = async (): Promise<void> => {
    for await (const run of followRunThrough(client, id, { ...options, signal })) {
      update({ ...value(), run });
      for (const name of run.streams ?? []) {
        if (reading.has(name)) continue;
        const read = readToEnd(link, id, name);
        read.catch(fail);
        reading.set(name, read);
      }
    }
    await Promise.all(reading.values());
  };
  await Promise.race([failed, follow()]);
}

/** Reads a stream until the run has ended and no more chunks arrive. */
async function readToEnd(
  { client, signal, value, update }: Link<Value>,
  id: string,
  name: string,
): Promise<void> {
  let isLast = false;
  // Reading also ends while the run writes nothing for a while.
  while (!isLast && !signal.aborted) {
    isLast = value().run?.isCompleted ?? false;
    const lastEventId = value().positions[name];
    for await (const { seq, chunk } of readStreamThrough(client, id, name, { lastEventId, signal })) {
      const { run, streams, positions } = value();
      update({
        run,
        streams: { ...streams, [name]: [...(streams[name] ?? []), chunk] },
        positions: { ...positions, [name]: seq },
      });
    }
  }
}
