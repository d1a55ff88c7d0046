import { ApiError, retrieveThrough, type AnyTask, type Run, type TaskOutput } from '@millrace/sdk/frontend';
import type { MillraceAuth } from './auth-context.ts';
import { useConnection, useLatest } from './connection.ts';
import { useSubscription, type Link } from './subscription.ts';

export interface UseRunOptions extends MillraceAuth {
  /** Milliseconds between two requests until the run has ended. Default 0: the run is requested once. */
  refreshInterval?: number | undefined;
  /** Whether to request the run when the window receives the focus. Default false. */
  revalidateOnFocus?: boolean | undefined;
  /** Whether to request the run when the browser is online again. Default false. */
  revalidateOnReconnect?: boolean | undefined;
}

export interface RetrievedRun<TOutput = unknown> {
  readonly run: Run<TOutput> | undefined;
  readonly error: Error | undefined;
  /** Whether the first request has no response yet. */
  readonly isLoading: boolean;
  /** Whether a request has no response yet. */
  readonly isValidating: boolean;
  readonly isError: boolean;
}

interface Value {
  readonly run?: Run | undefined;
  readonly isValidating: boolean;
}

const nothing: Value = { isValidating: true };

/**
 * Requests a run, and repeats it with a `refreshInterval`. To follow a run, prefer `useRealtimeRun`.
 *
 * @example
 * const { run, isLoading } = useRun<typeof resizeImage>(runId, { accessToken });
 */
export function useRun<T extends AnyTask = AnyTask>(
  runId: string | undefined,
  options: UseRunOptions = {},
): RetrievedRun<TaskOutput<T>> {
  const latest = useLatest(options);
  const id = runId || undefined;
  const { value, error } = useSubscription<Value>({
    subject: id,
    connection: useConnection(options),
    initial: nothing,
    throttleInMs: 0,
    follow: (link) => poll(link, id ?? '', () => latest.current),
  });
  const isPending = id !== undefined && error === undefined;
  return {
    run: value.run as Run<TaskOutput<T>> | undefined,
    error,
    isLoading: isPending && value.run === undefined,
    isValidating: isPending && value.isValidating,
    isError: error !== undefined,
  };
}

/** A failure that another request might not have. */
const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === undefined || error.status === 429 || error.status >= 500);

async function poll(
  { client, signal, begin, update, report }: Link<Value>,
  id: string,
  options: () => UseRunOptions,
): Promise<void> {
  let { run } = begin;
  const show = (isValidating: boolean): void => {
    const value = { run, isValidating };
    update(() => value);
  };
  while (!signal.aborted) {
    if (run) show(true);
    try {
      run = await retrieveThrough(client, id, signal);
      show(false);
    } catch (error) {
      if (!isTransient(error)) throw error;
      report(error);
    }
    await nextRequest(options, run?.isCompleted ?? false, signal);
  }
}

/** The part of a window that is used. */
type Events = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;

/** Resolves when the run is to be requested again, or when the signal is aborted. */
const nextRequest = (
  options: () => UseRunOptions,
  isCompleted: boolean,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve) => {
    const window = globalThis as unknown as Events;
    const { refreshInterval = 0 } = options();
    const onFocus = (): void => {
      if (options().revalidateOnFocus) done();
    };
    const onOnline = (): void => {
      if (options().revalidateOnReconnect) done();
    };
    const timer = refreshInterval > 0 && !isCompleted ? setTimeout(() => done(), refreshInterval) : undefined;
    const done = (): void => {
      clearTimeout(timer);
      window.removeEventListener('focus', onFocus);
      window.removeEventListener('online', onOnline);
      signal.removeEventListener('abort', done);
      resolve();
    };
    window.addEventListener('focus', onFocus);
    window.addEventListener('online', onOnline);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
