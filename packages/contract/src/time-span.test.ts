import { describe, expect, test } from 'vitest';
import { parseTimeSpan } from './time-span.ts';

describe('parseTimeSpan', () => {
  test.each([
    ['15m', 900_000],
    ['2 hours', 7_200_000],
    ['7d', 604_800_000],
    ['1y', 31_557_600_000],
    ['1 Year', 31_557_600_000],
    ['1.5 hrs', 5_400_000],
    ['30 secs', 30_000],
    ['2 mins from now', 120_000],
    ['+1 week', 604_800_000],
    ['-1h', -3_600_000],
    ['1 day ago', -86_400_000],
    ['0s', 0],
    ['-0s', 0],
  ])('reads %s', (text, ms) => {
    expect(parseTimeSpan(text)).toBe(ms);
  });

  test.each([
    '',
    '15',
    '2 fortnights',
    '1 month',
    '-1h ago',
    '+1h from now',
    '1h30m',
    'h',
    '1  h',
    '.5h',
    `${' '.repeat(200)}1h`,
  ])('rejects "%s" with a correction', (text) => {
    expect(parseTimeSpan(text)).toEqual({
      error: expect.stringContaining('is not a time span; write a number and a unit'),
    });
  });

  test('rejects spans beyond the range of dates', () => {
    expect(parseTimeSpan('999999999 years')).toEqual({ error: expect.stringContaining('is too long') });
  });
});
