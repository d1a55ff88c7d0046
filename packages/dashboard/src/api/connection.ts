import { useSyncExternalStore } from 'react';

/** Whether the server responds. `lost`: the last request did not reach it. `loggedOut`: it no longer accepts the session. */
export type Connection = 'ok' | 'lost' | 'loggedOut';

let state: Connection = 'ok';
const listeners = new Set<() => void>();

export function setConnection(next: Connection): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

export const connection = (): Connection => state;

export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useConnection = (): Connection => useSyncExternalStore(onConnection, connection);
