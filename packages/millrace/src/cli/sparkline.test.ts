import { expect, test } from 'vitest';
import { sparkline } from './sparkline.ts';

test('the highest bar is full, zero is a dot, and an unknown value is blank', () => {
  expect(sparkline([0, 1, 4, 8, null], 10)).toBe('·▁▄█ ');
  expect(sparkline([], 10)).toBe('');
  expect(sparkline([0, 0], 10)).toBe('··');
  expect(sparkline([0.001], 10)).toBe('█');
});

test('with more numbers than bars, a bar shows the largest of its group', () => {
  expect(sparkline([0, 8, 0, 0, 4, 0], 3)).toBe('█·▄');
  expect(
    sparkline(
      Array.from({ length: 1_000 }, (_, n) => n),
      60,
    ),
  ).toHaveLength(59);
});
