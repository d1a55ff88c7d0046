import type { Page } from 'playwright-core';

/**
 * Layout problems of the page at its current size: it scrolls sideways, a control is out of reach or covered by another, a line of text
 * is cut off without an ellipsis.
 */
export const layoutFaults = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const faults = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) faults.push('is ' + root.scrollWidth + ' px wide at ' + innerWidth);
    const nameOf = (element) =>
      element.tagName.toLowerCase() + '.' + String(element.className).split(' ')[0] + ' "' +
      (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40) + '"';
    const isShown = (element) =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('.hidden-text, .skip-link, .u-over');
    // Elements that scroll by themselves are not cut off, only their containers.
    const scrolls = (element) => {
      for (let up = element.parentElement; up; up = up.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(up);
        if (up !== root && up !== document.body && /auto|scroll/.test(overflowX + overflowY)) return up;
      }
      return undefined;
    };
    for (const element of document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex="0"]')) {
      const box = element.getBoundingClientRect();
      if (!isShown(element) || box.width < 2 || box.height < 2 || box.top < 0 || box.bottom > innerHeight) continue;
      const scroller = scrolls(element);
      if (scroller) {
        const around = scroller.getBoundingClientRect();
        if (box.left < around.left || box.right > around.right || box.top < around.top || box.bottom > around.bottom) continue;
      }
      if (box.left < -1 || box.right > innerWidth + 1) faults.push(nameOf(element) + ' is out of sight sideways');
      if (getComputedStyle(element).pointerEvents === 'none') continue;
      const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
      const isOver = top && !element.contains(top) && !top.contains(element) && !top.closest('label')?.contains(element);
      // Sticky elements cover the page while it scrolls.
      if (isOver && !top.closest('.top-bar, .table-head, .toasts, .bulk-bar, .panel, .dialog, .backdrop, .rail, .prod-bar, .test-start'))
        faults.push(nameOf(element) + ' is under ' + nameOf(top));
    }
    for (const element of document.querySelectorAll('main *')) {
      if (element.children.length > 0 || !isShown(element) || (element.textContent ?? '').trim() === '') continue;
      const box = element.getBoundingClientRect();
      if (box.width < 2) continue;
      // Text that an ancestor cuts off without an ellipsis.
      for (let up = element; up && up.tagName !== 'MAIN'; up = up.parentElement) {
        const style = getComputedStyle(up);
        if (/auto|scroll/.test(style.overflowX)) break;
        if (!/hidden|clip/.test(style.overflowX)) continue;
        const around = up.getBoundingClientRect();
        const isCut = box.right > around.right + 2 || (up === element && up.scrollWidth > up.clientWidth + 2);
        if (isCut && style.textOverflow !== 'ellipsis' && !up.closest('.plot-canvas, .waterfall, .axis, .spark'))
          faults.push(nameOf(element) + ' is cut by ' + nameOf(up));
        break;
      }
      if (parseFloat(getComputedStyle(element).fontSize) < 12) faults.push(nameOf(element) + ' has letters below 12 px');
    }
    const page = document.querySelector('.page');
    if (page && page.getBoundingClientRect().width > 1600) faults.push('the content is wider than 1600 px');
    return [...new Set(faults)].slice(0, 6);
  })()`);

/** Sizes at which every page is checked: a phone, a window of 1440 px at 200 % zoom, and 4K. */
export const sizes = [
  { name: '320 px', viewport: { width: 320, height: 640 } },
  { name: '200 %', viewport: { width: 720, height: 450 } },
  { name: '4K', viewport: { width: 3_840, height: 2_160 } },
] as const;
