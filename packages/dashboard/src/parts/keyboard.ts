import { useEffect, useEffectEvent, type KeyboardEvent as ReactKeyboardEvent, type RefObject } from 'react';

/** Whether a key press belongs to a text field or an open menu. */
function isTyping(target: Element | null): boolean {
  return (
    target?.closest(
      'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"]',
    ) != null
  );
}

/** Elements that Enter and the space bar activate natively. */
const isControl = (target: Element | null): boolean => target?.closest('a, button, summary, input') != null;

/** A dialog with a backdrop is open. A side panel has none: the list next to it can still be used. */
const isOverlaid = (): boolean => document.querySelector('.backdrop') !== null;

/** `Mod` is ⌘ on a Mac and Ctrl elsewhere. */
export const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);
const hasMod = (event: KeyboardEvent): boolean => (isMac ? event.metaKey : event.ctrlKey);

/** Entries of the shortcut list (`?`). */
export interface Shortcut {
  /** `j`, `?`, `g r` (one after the other), `Mod+k`, `Shift+ArrowLeft`, `Space`. */
  readonly keys: string;
  readonly label: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Whether it also works while a field has the focus. */
  readonly whileTyping?: boolean;
}

interface Registered {
  readonly shortcuts: readonly Shortcut[];
  /** Its group in the shortcut list. */
  readonly group: string;
  /** Whether they only work while the focus is in this part, which handles the keys itself. */
  readonly isPart: boolean;
  /** If several have the same key, the one with the focus gets it. */
  readonly near: RefObject<HTMLElement | null> | undefined;
}

const everywhere = 'Everywhere';
const ofPage = 'On this page';

const registered = new Set<Registered>();
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

const keyOf = (event: KeyboardEvent): string => {
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (hasMod(event)) return `Mod+${key}`;
  return isMac && event.ctrlKey ? `Ctrl+${key}` : event.shiftKey && key.length > 1 ? `Shift+${key}` : key;
};

/** Shortcuts that work regardless of the focus: first those around the focus, then the latest. */
function candidates(target: Element | null): readonly Shortcut[] {
  const all = [...registered].filter(({ isPart }) => !isPart).toReversed();
  const holds = ({ near }: Registered): boolean =>
    target !== null && near?.current?.contains(target) === true;
  return [...all.filter(holds), ...all.filter((entry) => !holds(entry))].flatMap(
    ({ shortcuts }) => shortcuts,
  );
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const target = event.target instanceof Element ? event.target : null;
  const key = keyOf(event);
  const sequence = prefix === '' ? key : `${prefix} ${key}`;
  const all = isOverlaid() ? [] : candidates(target);
  const found = all.find(
    ({ keys, whileTyping = false }) => keys === sequence && (whileTyping || !isTyping(target)),
  );
  clearTimeout(prefixTimer);
  prefix = '';
  if (found) {
    event.preventDefault();
    found.run(event);
    return;
  }
  if (isTyping(target) || !all.some(({ keys }) => keys.startsWith(`${key} `))) return;
  prefix = key;
  prefixTimer = setTimeout(() => (prefix = ''), 1_000);
}

/** All currently active shortcuts, in groups, as shown by `?`. Overridden ones are left out. */
export function currentShortcuts(): readonly {
  readonly group: string;
  readonly shortcuts: readonly Shortcut[];
}[] {
  const all = [...registered].toReversed();
  const groups = [
    ofPage,
    ...new Set(all.filter(({ isPart }) => isPart).map(({ group }) => group)),
    everywhere,
  ];
  const taken = new Set<string>();
  return groups.flatMap((group) => {
    const shortcuts = all
      .filter((entry) => entry.group === group)
      .flatMap((entry) => entry.shortcuts.map((shortcut) => ({ ...shortcut, id: entry.isPart ? group : '' })))
      .filter(({ keys, id }) => {
        const isNew = !taken.has(`${id} ${keys}`);
        taken.add(`${id} ${keys}`);
        return isNew;
      });
    return shortcuts.length > 0 ? [{ group, shortcuts }] : [];
  });
}

/** Registers shortcuts while the component is mounted, and again only when the set changes. */
function useRegistered(
  shortcuts: readonly Shortcut[],
  group: string,
  isPart: boolean,
  near?: RefObject<HTMLElement | null>,
): void {
  const run = useEffectEvent((keys: string, event: KeyboardEvent) =>
    shortcuts.find((shortcut) => shortcut.keys === keys)?.run(event),
  );
  const shape = JSON.stringify(shortcuts, (name, value: unknown) => (name === 'run' ? undefined : value));
  useEffect(() => {
    const offered = JSON.parse(shape) as readonly Omit<Shortcut, 'run'>[];
    if (offered.length === 0) return undefined;
    const entry: Registered = {
      group,
      isPart,
      near,
      shortcuts: offered.map((shortcut) => ({
        ...shortcut,
        run: (event: KeyboardEvent) => run(shortcut.keys, event),
      })),
    };
    if (registered.size === 0) window.addEventListener('keydown', onKeyDown);
    registered.add(entry);
    return () => {
      registered.delete(entry);
      if (registered.size === 0) window.removeEventListener('keydown', onKeyDown);
    };
  }, [shape, group, isPart, near]);
}

/**
 * Shortcuts that work while the component is mounted, regardless of the focus. If several components have the same key, the one `near` the
 * focus gets it, otherwise the latest.
 *
 * @example
 * useShortcuts([{ keys: 'c', does: 'Cancel the run', run: () => setCancelling(true) }]);
 */
export const useShortcuts = (
  shortcuts: readonly Shortcut[],
  {
    near,
    isEverywhere = false,
  }: { readonly near?: RefObject<HTMLElement | null>; readonly isEverywhere?: boolean } = {},
): void => useRegistered(shortcuts, isEverywhere ? everywhere : ofPage, false, near);

/**
 * Shortcuts of one part of a page, while it has the focus: returns its `onKeyDown`.
 *
 * @example
 * const onKeyDown = usePartKeys('In the timeline', [{ keys: 'ArrowDown', does: 'Next line', run: () => move(1) }]);
 */
export function usePartKeys(
  part: string,
  shortcuts: readonly Shortcut[],
): (event: ReactKeyboardEvent) => void {
  useRegistered(shortcuts, part, true);
  return (event) => {
    const { nativeEvent } = event;
    const target = event.target instanceof Element ? event.target : null;
    if (event.defaultPrevented || nativeEvent.isComposing || nativeEvent.altKey) return;
    // Elements opened from it, such as a menu, are elsewhere in the document.
    if (target === null || !event.currentTarget.contains(target)) return;
    const key = keyOf(nativeEvent);
    if ((key === 'Enter' || key === 'Space') && target !== event.currentTarget && isControl(target)) return;
    const found = shortcuts.find(
      ({ keys, whileTyping = false }) => keys === key && (whileTyping || !isTyping(target)),
    );
    if (!found) return;
    event.preventDefault();
    found.run(nativeEvent);
  };
}
