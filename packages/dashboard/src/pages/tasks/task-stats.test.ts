import { expect, test } from 'vitest';
import { rateText, rateTone } from './task-stats.ts';

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

test('a rate has the color of its threshold', () => {
  expect([1, 0.99, 0.98, 0.95, 0.949].map(rateTone)).toEqual(['', '', 'tone-warn', 'tone-warn', 'tone-bad']);
});
