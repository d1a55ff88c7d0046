import { useSyncExternalStore } from 'react';

/** `system` follows the reader's system setting. */
export type Theme = 'system' | 'light' | 'dark';

const stored = 'millrace.theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
const read = (): Theme => {
  const value = localStorage.getItem(stored);
  return value === 'light' || value === 'dark' ? value : 'system';
};
let theme = read();

function apply(): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset['theme'] = theme;
  for (const listener of listeners) listener();
}
apply();
system.addEventListener('change', apply);

export function setTheme(next: Theme): void {
  theme = next;
  if (next === 'system') localStorage.removeItem(stored);
  else localStorage.setItem(stored, next);
  apply();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useThemeChoice = (): Theme => useSyncExternalStore(subscribe, () => theme);

/** The theme that is currently shown. */
export const useTheme = (): 'light' | 'dark' =>
  useSyncExternalStore(subscribe, () => (theme === 'system' ? (system.matches ? 'dark' : 'light') : theme));
