import { useSyncExternalStore } from 'react';

/** Whether pages refresh automatically, and when the last response arrived. */
interface Live {
  readonly isPaused: boolean;
  readonly updatedAt: number | undefined;
}

let state: Live = { isPaused: false, updatedAt: undefined };
const listeners = new Set<() => void>();
const set = (next: Live): void => {
  state = next;
  for (const listener of listeners) listener();
};

export const setPaused = (isPaused: boolean): void => set({ ...state, isPaused });
export const markUpdated = (): void => set({ ...state, updatedAt: Date.now() });

export const useLive = (): Live =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
