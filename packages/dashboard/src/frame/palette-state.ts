import { useSyncExternalStore } from 'react';
import { keepTyped, takeTyped } from './typed-early.ts';

let isOpen = false;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  isOpen = next;
  for (const listener of listeners) listener();
}

export const closePalette = (): void => {
  takeTyped();
  set(false);
};
export const openPalette = (): void => {
  keepTyped(closePalette);
  set(true);
};

export const useIsPaletteOpen = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOpen,
  );
