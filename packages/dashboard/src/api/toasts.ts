import { useSyncExternalStore } from 'react';

interface ToastOptions {
  readonly title: string;
  readonly description?: string;
  readonly kind?: 'done' | 'error';
  /** Reverses the action. The toast remains longer, with a button. */
  readonly undo?: () => void;
  /** Another button, such as "Open the run". */
  readonly action?: { readonly label: string; readonly onClick: () => void };
}

export interface Toast {
  readonly id: number;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: 'done' | 'error';
  readonly action: { readonly label: string; readonly onClick: () => void } | undefined;
  readonly stayMs: number;
}

const maxShown = 4;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/**
 * Reports a completed action or a failure.
 *
 * @example
 * toast({ title: 'Queue mail paused', undo: () => pause.mutate({ …, body: { action: 'resume' } }) });
 */
export function toast({ title, description, kind = 'done', undo, action }: ToastOptions): void {
  const button = undo ? { label: 'Undo', onClick: undo } : action;
  lastId += 1;
  const added = { id: lastId, title, description, kind, action: button };
  set([...toasts, { ...added, stayMs: button || kind === 'error' ? 12_000 : 5_000 }].slice(-maxShown));
}

export const dismissToast = (id: number): void => set(toasts.filter((shownToast) => shownToast.id !== id));

export const useToasts = (): readonly Toast[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
