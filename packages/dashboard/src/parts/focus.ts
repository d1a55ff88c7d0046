/**
 * Where the focus was before something opened over it, and where it goes when what had it is no longer there. Nobody who uses the keyboard alone
 * has to begin at the top of the page again.
 */

const popups = '.dialog, .menu-place, .toasts';

/** The latest that had the focus, and what is around it, the nearest first. */
let latest: HTMLElement | undefined;
let around: readonly Element[] = [];
/** The latest below dialogs, menus and messages. */
let below: HTMLElement | undefined;
/** The same, but not in a side panel either. */
let inPage: HTMLElement | undefined;
let isByKeyboard = false;

const main = (): HTMLElement | null => document.querySelector<HTMLElement>('#content');

const canHaveFocus = (element: HTMLElement): boolean =>
  element.isConnected && element.checkVisibility() && !element.matches(':disabled');

/** The element, or the row that was made anew in its place. */
function stillThere(element: HTMLElement | undefined): HTMLElement | null {
  if (element === undefined || canHaveFocus(element)) return element ?? null;
  const key = element.closest<HTMLElement>('[data-key]')?.dataset['key'];
  return key === undefined ? null : document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
}

/** For `finalFocus` of a dialog. */
export const focusBelow = (): HTMLElement | null => stillThere(below) ?? main();
/** For `finalFocus` of a side panel. */
export const focusInPage = (): HTMLElement | null => stillThere(inPage) ?? main();

const tabbable = 'a[href], button, input, select, textarea, [tabindex="0"]';

/** The first control beside what is gone. */
function nextToLatest(): HTMLElement | undefined {
  if (latest?.closest('.toasts')) return focusBelow() ?? undefined;
  const nearest = around.find((element) => element.isConnected && element !== document.body);
  return [...(nearest?.querySelectorAll<HTMLElement>(tabbable) ?? [])].find(
    (element) => element.tabIndex >= 0 && canHaveFocus(element),
  );
}

const isLost = (): boolean =>
  (document.activeElement === null || document.activeElement === document.body) &&
  (latest === undefined || !canHaveFocus(latest));

/** Watches over the focus until what it returns is called. The frame of the page does it. */
export function keepFocus(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onFocus = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement)) return;
    latest = target;
    const ancestors: Element[] = [];
    for (let up = target.parentElement; up; up = up.parentElement) ancestors.push(up);
    around = ancestors;
    if (target.closest(popups)) return;
    below = target;
    if (!target.closest('.panel')) inPage = target;
  };
  const onKey = (): void => void (isByKeyboard = true);
  const onPointer = (): void => void (isByKeyboard = false);
  const observer = new MutationObserver(() => {
    if (!isByKeyboard || !isLost()) return;
    clearTimeout(timer);
    // Whoever took it away may give it to something else first.
    timer = setTimeout(() => {
      if (isLost()) (nextToLatest() ?? main())?.focus({ preventScroll: true });
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
