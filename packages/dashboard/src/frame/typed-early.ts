/*
 * The palette's field does not appear immediately: its code is loaded first, and it gets the focus after it is shown. Text typed until then is
 * kept for it.
 */

let typed = '';
let stop: (() => void) | undefined;

/** Keeps typed text until `takeTyped` is called. Escape discards it. */
export function keepTyped(onEscape: () => void): void {
  stop?.();
  typed = '';
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape') {
      takeTyped();
      onEscape();
    } else if (event.key === 'Backspace') typed = typed.slice(0, -1);
    else if (event.key.length === 1) typed += event.key;
    // Otherwise Enter and Tab would affect the page.
    else if (event.key !== 'Enter' && event.key !== 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener('keydown', onKeyDown, { capture: true });
  stop = () => window.removeEventListener('keydown', onKeyDown, { capture: true });
}

/** The text typed so far. Later keys go to the field. */
export function takeTyped(): string {
  stop?.();
  stop = undefined;
  const text = typed;
  typed = '';
  return text;
}
