import { expect, test } from 'vitest';
import { rateText } from './task-stats.ts';

test('a rate is a percentage that is never rounded up to 100', () => {
  expect([1, 0.99996, 0.985, 0, null, undefined].map(rateText)).toEqual([
    '100 %',
    '99.9 %',
    '98.5 %',
    '0 %',
    undefined,
    undefined,
  ]);
});
