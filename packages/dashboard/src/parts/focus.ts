import { useLayoutEffect, useRef, type RefObject } from 'react';

/**
 * Remembers the focus before something opens over it, and moves it when its element disappears, so that keyboard users need not start at the
 * top of the page again.
 */

const popups = '.dialog, .menu-place, .toasts';

/** The focused element, and its surroundings. */
interface Position {
  readonly element: HTMLElement;
  /** The surrounding elements, nearest first. */
  readonly around: readonly Element[];
  /** The table row that contains it. */
  readonly row: string | undefined;
}

let latest: Position | undefined;
/** The latest position below dialogs, menus and messages. */
let below: Position | undefined;
/** The same, but also outside of side panels. */
let inPage: Position | undefined;
let isByKeyboard = false;

const main = (): HTMLElement | null => document.querySelector<HTMLElement>('#content');

const canHaveFocus = (element: HTMLElement): boolean =>
  element.isConnected &&
  element.checkVisibility({ visibilityProperty: true }) &&
  !element.matches(':disabled');

function positionOf(element: HTMLElement): Position {
  const around: Element[] = [];
  for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) around.push(up);
  return { element, around, row: element.closest<HTMLElement>('[data-key]')?.dataset['key'] };
}

const tabbable = 'a[href], button, input, select, textarea, [tabindex="0"]';

const firstIn = (element: Element): HTMLElement | undefined =>
  element.isConnected
    ? [...element.querySelectorAll<HTMLElement>(tabbable)].find(
        (candidate) => candidate.tabIndex >= 0 && canHaveFocus(candidate),
      )
    : undefined;

/** The element itself; if it is gone, its row, or the first control of its surroundings. */
function at(position: Position | undefined): HTMLElement | null {
  if (position === undefined) return main();
  const { element, around, row } = position;
  if (canHaveFocus(element)) return element;
  const again =
    row === undefined ? null : document.querySelector<HTMLElement>(`[data-key="${CSS.escape(row)}"]`);
  if (again) return again;
  for (const ancestor of around) {
    const found = ancestor.id === 'content' ? undefined : firstIn(ancestor);
    if (found) return found;
    if (ancestor.id === 'content') break;
  }
  return main();
}

/** Out of a field, so that the shortcuts of the page work. */
export const focusMain = (): void => main()?.focus({ preventScroll: true });
/** For `finalFocus` of a dialog. */
export const focusBelow = (): HTMLElement | null => at(below);
/** For `finalFocus` of a side panel. */
export const focusInPage = (): HTMLElement | null => at(inPage);

const isLost = (): boolean =>
  (document.activeElement === null || document.activeElement === document.body) &&
  (latest === undefined || !canHaveFocus(latest.element));

/**
 * For the button of a menu or popover that was loaded when it was pressed: the pressed button is replaced by this one, which takes the focus,
 * so that it can return.
 */
export function useTakenFocus(isTaken: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isTaken) button.current?.focus({ preventScroll: true });
    // Runs only on mount, so the initial value counts.
  }, []);
  return button;
}

/** Tracks the focus until the returned function is called. The frame of the page uses it. */
export function keepFocus(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onFocus = ({ target }: FocusEvent): void => {
    // The elements that keep Tab inside a dialog are next to it and are removed with it.
    if (!(target instanceof HTMLElement) || !target.closest('#root, .panel, .dialog, .menu-place')) return;
    latest = positionOf(target);
    if (target.closest(popups)) return;
    below = latest;
    if (!target.closest('.panel')) inPage = latest;
  };
  const onKey = (): void => void (isByKeyboard = true);
  const onPointer = (): void => void (isByKeyboard = false);
  const observer = new MutationObserver(() => {
    if (!isByKeyboard || !isLost()) return;
    clearTimeout(timer);
    // The code that removed the focus may focus something else first.
    timer = setTimeout(() => {
      if (isLost()) at(latest?.element.closest('.toast') ? below : latest)?.focus({ preventScroll: true });
    }, 100);
  });
  observer.observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled', 'hidden'],
  });
  document.addEventListener('focusin', onFocus);
  document.addEventListener('keydown', onKey, { capture: true });
  document.addEventListener('pointerdown', onPointer, { capture: true });
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', onFocus);
    document.removeEventListener('keydown', onKey, { capture: true });
    document.removeEventListener('pointerdown', onPointer, { capture: true });
  };
}
