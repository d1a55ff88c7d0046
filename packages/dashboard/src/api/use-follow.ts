import type { SentEvent } from '@millrace/contract/event-stream';
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import { useEnvironment } from './environment.ts';
import { follow } from './event-stream.ts';
import { useLive } from './live.ts';
import type { InputOf, OperationName } from './operation-types.ts';

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}

/** False while the page is in a background tab. */
export const useIsVisible = (): boolean => useSyncExternalStore(onVisibility, () => !document.hidden);

/**
 * Reads a stream of events while the component is mounted, and the page is visible and not paused. It restarts with other parameters, and when
 * the page becomes visible again: `onStart` is called before the first event of each connection. Returns `true` once the server has reported
 * that the stream is complete.
 */
export function useFollow<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  { enabled = true, onStart }: { readonly enabled?: boolean; readonly onStart?: () => void },
  onEvent: (event: SentEvent) => void,
): { readonly isOver: boolean; readonly error: unknown } {
  const environment = useEnvironment();
  const isVisible = useIsVisible();
  const { isPaused } = useLive();
  const [state, setState] = useState<{ readonly isOver: boolean; readonly error: unknown }>({
    isOver: false,
    error: undefined,
  });
  const start = useEffectEvent(() => onStart?.());
  const notify = useEffectEvent((event: SentEvent) => onEvent(event));
  const question = JSON.stringify([environment, input]);
  const isOn = enabled && isVisible && !isPaused;

  useEffect(() => {
    if (!isOn) return undefined;
    const abort = new AbortController();
    const [about, what] = JSON.parse(question) as [typeof environment, InputOf<N>];
    setState({ isOver: false, error: undefined });
    start();
    follow(name, what, { environment: about, signal: abort.signal }, (event) => notify(event)).then(
      () => !abort.signal.aborted && setState({ isOver: true, error: undefined }),
      (error: unknown) => !abort.signal.aborted && setState({ isOver: true, error }),
    );
    return () => abort.abort();
  }, [isOn, name, question]);
  return state;
}
