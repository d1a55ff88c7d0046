import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['90s', 90],
  ['1h30m', 5_400],
  ['2d', 172_800],
  ['1hr', 3_600],
  ['1w', 604_800],
  ['0s', 0],
])('%s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each(['', '10', 'h', '1.5h', '-1s', '1 h', '1y', '1h ', `${'9'.repeat(50)}s`])(
  '%j is not a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);
