/**
 * A colour in the theme of now, as a canvas takes it.
 *
 * @example colorOf(canvas, 'var(--bad)')
 */
export function colorOf(element: HTMLElement, color: string): string {
  element.style.color = color;
  const computed = getComputedStyle(element).color;
  element.style.color = '';
  return computed;
}
