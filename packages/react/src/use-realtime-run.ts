import { useEffect, useRef } from 'react';
import {
  followRunThrough,
  type AnyTask,
  type RunHandle,
  type TaskOutput,
  type WatchedRun,
} from '@millrace/sdk/frontend';
import { useConnection } from './connection.ts';
import { throttleOf, type SubscribeHookOptions } from './options.ts';
import { useSubscription } from './subscription.ts';

type OnComplete<TOutput> = (run: WatchedRun<TOutput>, error?: Error) => void;

/** Options of hooks that follow one run. */
export interface UseRealtimeRunOptions<TOutput = unknown> extends SubscribeHookOptions {
  /** Called once when the run has ended. `error` is that of the subscription, if it failed. */
  onComplete?: OnComplete<TOutput> | undefined;
  /** Has no effect: the subscription ends with the run, whose metadata does not change after its end. */
  stopOnCompletion?: boolean | undefined;
  /** Columns that are not sent, such as `payload` or `output`. */
  skipColumns?: readonly string[] | undefined;
}

export interface RealtimeRun<TOutput = unknown> {
  /** The last known state. Undefined until the first response. */
  readonly run: WatchedRun<TOutput> | undefined;
  /** Why the subscription ended. Never thrown. */
  readonly error: Error | undefined;
  /** Ends the subscription. */
  readonly stop: () => void;
}

/** A run by its id or by the handle of its trigger, whose token is used unless the options have one. */
export type RunArgument = string | Pick<RunHandle, 'id' | 'publicAccessToken'> | undefined;

export const runIdOf = (run: RunArgument): string | undefined =>
  (typeof run === 'string' ? run : run?.id) || undefined;

export const withTokenOf = <O extends SubscribeHookOptions>(run: RunArgument, options: O): O =>
  typeof run === 'string' || run === undefined
    ? options
    : { ...options, accessToken: options.accessToken ?? run.publicAccessToken };

/** Calls `onComplete` once for each run, when it has ended. */
export function useOnComplete<TOutput>(
  run: WatchedRun<TOutput> | undefined,
  error: Error | undefined,
  onComplete: OnComplete<TOutput> | undefined,
): void {
  const completed = useRef<string>(undefined);
  useEffect(() => {
    if (!run?.isCompleted || completed.current === run.id) return;
    completed.current = run.id;
    onComplete?.(run, error);
    // The callback may be a new function in each render.
  }, [run]);
}

/**
 * Follows a run until it ends.
 *
 * @example
 * const { run, error } = useRealtimeRun<typeof resizeImage>(runId, { accessToken });
 * return <p>{error?.message ?? run?.status}</p>;
 */
export function useRealtimeRun<T extends AnyTask = AnyTask>(
  run?: string,
  options?: UseRealtimeRunOptions<TaskOutput<T>>,
): RealtimeRun<TaskOutput<T>>;
export function useRealtimeRun<TOutput>(
  handle: RunHandle<string, TOutput> | undefined,
  options?: UseRealtimeRunOptions<TOutput>,
): RealtimeRun<TOutput>;
export function useRealtimeRun(run: RunArgument, options: UseRealtimeRunOptions = {}): RealtimeRun {
  const id = runIdOf(run);
  const { skipColumns } = options;
  const { value, error, stop } = useSubscription<WatchedRun | undefined>({
    subject: id && JSON.stringify([id, skipColumns]),
    enabled: options.enabled,
    connection: useConnection(withTokenOf(run, options)),
    initial: undefined,
    throttleInMs: throttleOf(options),
    async follow({ client, signal, update }) {
      for await (const state of followRunThrough(client, id ?? '', { skipColumns, signal }))
        update(() => state);
    },
  });
  useOnComplete(value, error, options.onComplete);
  return { run: value, error, stop };
}
