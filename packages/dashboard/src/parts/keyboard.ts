import { useEffect, useEffectEvent } from 'react';

/** Whether a key press belongs to a field that is typed in, or to an open dialog or menu. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  return (
    target?.closest('input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"]') !=
    null
  );
}

/** A dialog with a backdrop is open. A side panel has none: the list beside it can still be used. */
const isOverlaid = (): boolean => document.querySelector('.backdrop') !== null;

/** `Mod` is ⌘ on a Mac and Ctrl elsewhere. */
export const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);
const hasMod = (event: KeyboardEvent): boolean => (isMac ? event.metaKey : event.ctrlKey);

/** Known to the list of keys (`?`). */
export interface Shortcut {
  /** `j`, `?`, `g r` (one after the other), `Mod+k`. */
  readonly keys: string;
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
  /** True: also while a field has the focus. */
  readonly whileTyping?: boolean;
  /** True: also while a dialog is open. */
  readonly overDialogs?: boolean;
}

const registered = new Set<readonly Shortcut[]>();
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

const keyOf = (event: KeyboardEvent): string => {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return hasMod(event) ? `Mod+${key}` : event.shiftKey && key.length > 1 ? `Shift+${key}` : key;
};

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const key = keyOf(event);
  const sequence = prefix === '' ? key : `${prefix} ${key}`;
  const all = [...registered].toReversed().flat();
  const found = all.find(
    ({ keys, whileTyping = false, overDialogs = false }) =>
      keys === sequence && (whileTyping || !isTyping(event)) && (overDialogs || !isOverlaid()),
  );
  clearTimeout(prefixTimer);
  prefix = '';
  if (found) {
    event.preventDefault();
    found.run(event);
    return;
  }
  if (isTyping(event) || !all.some(({ keys }) => keys.startsWith(`${key} `))) return;
  prefix = key;
  prefixTimer = setTimeout(() => (prefix = ''), 1_000);
}

/** Every shortcut that works now, the latest first. */
export const currentShortcuts = (): readonly Shortcut[] => [...registered].toReversed().flat();

/**
 * Keys that work while the component is there. The latest component wins.
 *
 * @example
 * useShortcuts([{ keys: 'c', does: 'Cancel the run', run: () => setCancelling(true) }]);
 */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const run = useEffectEvent((keys: string, event: KeyboardEvent) =>
    shortcuts.find((one) => one.keys === keys)?.run(event),
  );
  const shape = JSON.stringify(shortcuts, (name, value: unknown) => (name === 'run' ? undefined : value));
  useEffect(() => {
    const mine = (JSON.parse(shape) as readonly Omit<Shortcut, 'run'>[]).map((one) => ({
      ...one,
      run: (event: KeyboardEvent) => run(one.keys, event),
    }));
    if (registered.size === 0) window.addEventListener('keydown', onKeyDown);
    registered.add(mine);
    return () => {
      registered.delete(mine);
      if (registered.size === 0) window.removeEventListener('keydown', onKeyDown);
    };
  }, [shape]);
}
