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
  const id = runIdOf(run);
  const { skipColumns } = options;
  const { value, error, stop } = useSubscription<Value>({
    subject: id && JSON.stringify([id, skipColumns]),
    enabled: options.enabled,
    connection: useConnection(withTokenOf(run, options)),
    initial: nothing,
    throttleInMs: throttleOf(options),
    follow: (link) => followAll(link, id ?? '', { skipColumns }),
  });
  const state = value.run as WatchedRun<TaskOutput<T>> | undefined;
  useOnComplete(state, error, options.onComplete);
  return { run: state, streams: value.streams as StreamResults<TStreams>, error, stop };
}

/** Follows the run, and each stream from the moment in which the run has it. */
async function followAll(
  { client, signal, begin, update }: Link<Value>,
  id: string,
  options: Pick<UseRealtimeRunOptions, 'skipColumns'>,
): Promise<void> {
  let { run } = begin;
  const streams = copied(begin.streams);
  const positions = { ...begin.positions };
  const show = (): void => update(() => ({ run, streams: copied(streams), positions: { ...positions } }));

  /** Reads a stream until the run has ended and no more chunks arrive. */
  const readToEnd = async (name: string): Promise<void> => {
    let isLast = false;
    // Reading also ends while the run writes nothing for a while.
    while (!isLast && !signal.aborted) {
      isLast = run?.isCompleted ?? false;
      const after = { lastEventId: positions[name], signal };
      for await (const { seq, chunk } of readStreamThrough(client, id, name, after)) {
        (streams[name] ??= []).push(chunk);
        positions[name] = seq;
        show();
      }
    }
  };

  const reading = new Map<string, Promise<void>>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const followRun = async (): Promise<void> => {
    for await (const state of followRunThrough(client, id, { ...options, signal })) {
      run = state;
      show();
      for (const name of state.streams ?? []) {
        if (reading.has(name)) continue;
        const read = readToEnd(name);
        read.catch(fail);
        reading.set(name, read);
      }
    }
    await Promise.all(reading.values());
  };
  await Promise.race([failed, followRun()]);
}

const copied = (streams: Value['streams']): Record<string, unknown[]> =>
  Object.fromEntries(Object.entries(streams).map(([name, chunks]) => [name, [...chunks]]));
