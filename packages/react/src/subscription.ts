import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiClient } from '@millrace/sdk/frontend';
import { asError } from './as-error.ts';
import type { Connection } from './connection.ts';
import { throttle } from './throttle.ts';

/** The means by which a subscription follows its subject. */
export interface Link<V> {
  readonly client: ApiClient;
  /** Aborted when the subscription ends, or continues with another token. */
  readonly signal: AbortSignal;
  /** The last value, from which a subscription resumes. */
  readonly begin: V;
  /** Renders another value within the interval of the throttle. Only the last `produce` in an interval is called. */
  readonly update: (produce: () => V) => void;
  /** Shows an error without ending the subscription. The next update removes it. */
  readonly report: (error: unknown) => void;
}

export interface SubscriptionOptions<V> {
  /** Identifies the run, runs or stream. Undefined: there is nothing to follow yet. */
  readonly subject: string | undefined;
  /** Whether to follow it. Default true. */
  readonly enabled?: boolean | undefined;
  readonly connection: Connection;
  /** The value before the first update; the same object in each render. */
  readonly initial: V;
  readonly throttleInMs: number;
  /** Follows the subject until its end. Rejects for a permanent failure. */
  readonly follow: (link: Link<V>) => Promise<void>;
}

export interface Subscription<V> {
  readonly value: V;
  readonly error: Error | undefined;
  /** Ends the subscription. The last value remains. */
  readonly stop: () => void;
}

interface Rendered<V> {
  readonly subject: string;
  readonly connection: string;
  readonly value: V;
  readonly error: Error | undefined;
}

/**
 * Follows a subject while the component is mounted, never on a server. With another token or server it resumes from the last value, with
 * another subject it starts over.
 */
export function useSubscription<V>(options: SubscriptionOptions<V>): Subscription<V> {
  const { subject, enabled = true, connection, initial, throttleInMs, follow } = options;
  const [rendered, setRendered] = useState<Rendered<V>>();
  const last = useRef<Rendered<V>>(undefined);
  const end = useRef<() => void>(undefined);
  const isActive = enabled && subject !== undefined;
  const isReady = isActive && connection.error === undefined;

  useEffect(() => {
    if (!isReady) return undefined;
    const ended = new AbortController();
    let produce = (): V => (last.current?.subject === subject ? last.current.value : initial);
    const show = (error?: Error): void => {
      if (ended.signal.aborted) return;
      last.current = { subject, connection: connection.key, value: produce(), error };
      setRendered(last.current);
    };
    const throttled = throttle(() => show(), throttleInMs);
    end.current = () => {
      throttled.flush();
      ended.abort();
    };
    const followWith = (client: ApiClient): Promise<void> =>
      withSignal(ended.signal, (signal) =>
        follow({
          client,
          signal,
          begin: produce(),
          update(next) {
            produce = next;
            throttled.request();
          },
          report: (error) => show(asError(error)),
        }),
      );
    const run = async (): Promise<void> => {
      // StrictMode ends the first of two effects at once, before it has connected.
      await Promise.resolve();
      if (!ended.signal.aborted) await connection.call(followWith);
    };
    run().then(
      () => throttled.flush(),
      (error: unknown) => {
        throttled.cancel();
        show(asError(error));
      },
    );
    return () => {
      ended.abort();
      throttled.cancel();
    };
    // The other values are read when the subscription begins.
  }, [subject, connection.key, isReady]);

  const stop = useCallback(() => end.current?.(), []);
  const isCurrent = rendered !== undefined && rendered.subject === subject;
  const failed = isCurrent && rendered.connection === connection.key ? rendered.error : undefined;
  return {
    value: isCurrent ? rendered.value : initial,
    error: (isActive && connection.error) || failed,
    stop,
  };
}

/** Acts with a signal that is also aborted when the action ends, so that nothing of a failed action continues. */
async function withSignal<R>(outer: AbortSignal, act: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  outer.addEventListener('abort', abort);
  try {
    return await act(inner.signal);
  } finally {
    outer.removeEventListener('abort', abort);
    inner.abort();
  }
}
