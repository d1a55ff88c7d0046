import { expect, test } from 'vitest';
import { sparkline } from './sparkline.ts';

test('the highest bar is full, zero is a dot, and what is not known is blank', () => {
  expect(sparkline([0, 1, 4, 8, null], 10)).toBe('·▁▄█ ');
  expect(sparkline([], 10)).toBe('');
  expect(sparkline([0, 0], 10)).toBe('··');
  expect(sparkline([0.001], 10)).toBe('█');
});

test('more numbers than bars are shown by the largest of each group', () => {
  expect(sparkline([0, 8, 0, 0, 4, 0], 3)).toBe('█·▄');
  expect(
    sparkline(
      Array.from({ length: 1_000 }, (_, n) => n),
      60,
    ),
  ).toHaveLength(59);
});
