import { useSyncExternalStore } from 'react';

/** The time zone of displayed times: the browser's, UTC or another one. Stored in this browser. */
const stored = 'millrace.zone';
const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
let zone = localStorage.getItem(stored) ?? browserZone;
const listeners = new Set<() => void>();

export const browserTimeZone = (): string => browserZone;

export function setTimeZone(next: string): void {
  zone = next;
  localStorage.setItem(stored, next);
  for (const listener of listeners) listener();
}

export const useTimeZone = (): string =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => zone,
  );
