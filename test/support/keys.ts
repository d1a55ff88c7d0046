import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The page for a user without a pointer. */
export interface Keys {
  /** Presses keys in sequence. After each, the focus must be visible. */
  press(...keys: readonly string[]): Promise<void>;
  /** Presses Tab until the element has the focus. */
  tabTo(target: Locator, max?: number): Promise<void>;
  /** Presses Shift+Tab until the element has the focus. */
  tabBackTo(target: Locator, max?: number): Promise<void>;
  /** Presses an arrow key until the element has the focus, as in a menu or a tab list. */
  arrowTo(target: Locator, key?: 'ArrowDown' | 'ArrowRight'): Promise<void>;
  /** Types text at the focus. */
  write(text: string): Promise<void>;
  /** Waits until the element has the focus, without pressing a key. */
  isAt(target: Locator): Promise<void>;
}

/** The visual problem of the focused element; empty if there is none. */
const faultOfFocus = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return 'nothing has the focus';
  const name = element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60);
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.height === 0) return name + ': has no size';
  if (box.bottom <= 0 || box.right <= 0 || box.top >= innerHeight || box.left >= innerWidth) return name + ': is out of sight';
  // Lists in which the selected item has its own background.
  if (element.closest('[role="menu"]') && (element.matches('[role="menu"]') || element.matches('[data-highlighted]'))) return '';
  const style = getComputedStyle(element);
  const hasRing = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
  // The caret shows the focus.
  if (!hasRing && !element.matches('input, textarea')) return name + ': shows no ring';
  const at = (low, high, limit) => (Math.max(0, low) + Math.min(limit, high)) / 2;
  const x = at(box.left, box.right, innerWidth);
  const y = at(box.top, box.bottom, innerHeight);
  const top = document.elementFromPoint(x, y);
  if (top && getComputedStyle(element).pointerEvents !== 'none' && !element.contains(top) && !top.contains(element))
    return name + ': is covered by ' + top.className;
  return '';
})()`;

const seen = async (page: Page, after: string): Promise<void> => {
  await expect
    .poll(() => page.evaluate<string>(faultOfFocus), { timeout: 3_000, interval: 50, message: after })
    .toBe('');
};

const named = `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim().slice(0, 40)`;

const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluateAll((elements) =>
    elements.some((element) => element.ownerDocument.activeElement === element),
  );

export function keysOf(page: Page): Keys {
  const go = async (key: string, target: Locator, max: number): Promise<void> => {
    await target.first().waitFor();
    const passed: string[] = [];
    while (!(await hasFocus(target))) {
      if (passed.length >= max)
        throw new Error(`${key} never came to ${String(target)}: ${passed.join(', ')}`);
      await page.keyboard.press(key);
      await seen(page, `${key} on the way to ${String(target)}: ${passed.join(', ')}`);
      passed.push(await page.evaluate<string>(named));
    }
  };
  return {
    press: async (...keys) => {
      for (const key of keys) {
        await page.keyboard.press(key);
        await seen(page, key);
      }
    },
    tabTo: (target, max = 60) => go('Tab', target, max),
    tabBackTo: (target, max = 60) => go('Shift+Tab', target, max),
    arrowTo: (target, key = 'ArrowDown') => go(key, target, 20),
    write: (text) => page.keyboard.insertText(text),
    isAt: async (target) => {
      await target.first().waitFor();
      const where = async (): Promise<string> =>
        (await hasFocus(target)) ? String(target) : page.evaluate<string>(named);
      await expect.poll(where, { timeout: 5_000 }).toBe(String(target));
      await seen(page, String(target));
    },
  };
}
