import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(max-width: 720px)');

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

/** Whether the page is as narrow as a phone: the same width as in the style sheets. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
