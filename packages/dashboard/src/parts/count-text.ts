/**
 * How many of something.
 *
 * @example countText(3, 'run') // '3 runs'
 */
export const countText = (count: number | string, noun: string): string =>
  `${typeof count === 'number' ? count.toLocaleString('en') : count} ${noun}${count === 1 || count === '1' ? '' : 's'}`;
