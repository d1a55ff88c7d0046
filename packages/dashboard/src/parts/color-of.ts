/**
 * A color in the current theme, in a format for a canvas.
 *
 * @example colorOf(canvas, 'var(--bad)')
 */
export function colorOf(element: HTMLElement, color: string): string {
  element.style.color = color;
  const computed = getComputedStyle(element).color;
  element.style.color = '';
  return computed;
}
