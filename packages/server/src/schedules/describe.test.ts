import { CronError } from '@millrace/contract/cron';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeCron } from './describe.ts';
import { numRuns } from '../../../../test/support/long.ts';

const field = (min: number, max: number, ...more: string[]) => {
  const number = fc.integer({ min, max });
  const zeros = fc.constantFrom('', '', '0');
  const range = fc
    .tuple(number, number, zeros, zeros)
    .map(([a, b, zero, nought]) => `${zero}${Math.min(a, b)}-${nought}${Math.max(a, b)}`);
  const step = fc
    .tuple(fc.constantFrom('*', `${min}`, `${min}-${max}`), fc.integer({ min: 2, max: max - min }))
    .map((parts) => parts.join('/'));
  const single = fc.tuple(zeros, number).map((parts) => parts.join(''));
  const item = fc.oneof(
    single,
    fc.constantFrom('*', '?'),
    range,
    step,
    ...more.map((text) => fc.constant(text)),
  );
  return fc.oneof(
    fc.constantFrom('*', '?'),
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join()),
  );
};

describe('describeCron', () => {
  test.each([
    ['*/5 * * * *', 'Every 5 minutes'],
    ['? ? ? ? ?', 'Every minute'],
    ['@daily', 'At 12:00 AM'],
    ['0 9 * * 1-5', 'At 09:00 AM, Monday through Friday'],
    ['0 9 * * fri-sun', 'At 09:00 AM, Friday through Sunday'],
    ['0  0 * *  7L', 'At 12:00 AM, on the last Sunday of the month'],
    ['0 0 L,1 * *', 'At 12:00 AM, on day 1 and the last day of the month'],
    ['0 9 * * 1-3,5', 'At 09:00 AM, only on Monday, Tuesday, Wednesday, and Friday'],
    ['0 0 1 jul,jan-mar *', 'At 12:00 AM, on day 1 of the month, only in July and January through March'],
    ['0 0 ? * mon', 'At 12:00 AM, only on Monday'],
    ['0 0 * * 7/2', 'At 12:00 AM, only on Sunday'],
    ['00 09 * 01 06-07', 'At 09:00 AM, Saturday through Sunday, only in January'],
    ['0 9,* * 3,? *,5', 'Every hour'],
  ])('describes %s as "%s"', (text, words) => {
    expect(describeCron(text)).toBe(words);
  });

  test.each([
    ['0 0 1,15 * 1', 'At 12:00 AM, on day 1 and 15 of the month or on Monday'],
    ['0 0 13 * fri', 'At 12:00 AM, on day 13 of the month or on Friday'],
    ['0 0 13 1 5', 'At 12:00 AM, on day 13 of the month or on Friday, only in January'],
    ['0 0 L * 5L', 'At 12:00 AM, on the last day of the month or on the last Friday of the month'],
    ['0 0 */2 * 1', 'At 12:00 AM, every 2 days in a month or on Monday'],
    [
      '*/10 * 1-7 jan-mar 1-5',
      'Every 10 minutes, between day 1 and 7 of the month or Monday through Friday, January through March',
    ],
  ])('joins the two day fields of %s with "or"', (text, words) => {
    expect(describeCron(text)).toBe(words);
  });

  test('omits the days if one of the two fields matches every day', () => {
    expect(describeCron('0 0 13 6 */1')).toBe('At 12:00 AM, only in June');
  });

  test('rejects invalid expressions', () => {
    expect(() => describeCron('61 * * * *')).toThrow(CronError);
  });

  test('describes every valid expression, with "or" exactly if either day field is sufficient', () => {
    const days = field(1, 31, 'L');
    const weekdays = field(0, 7, 'mon', '5L', 'friL', '0L');
    fc.assert(
      fc.property(
        field(0, 59),
        field(0, 23),
        days,
        field(1, 12, 'feb'),
        weekdays,
        (minute, hour, day, month, weekday) => {
          const words = describeCron(`${minute} ${hour} ${day} ${month} ${weekday}`);
          expect(words).toMatch(/^\S+( \S+)*$/);
          expect(words).not.toMatch(/undefined|null|NaN|[AP]M[A-Z]/);
          // A list that contains * matches every day, and so does the whole expression.
          const either = ![day, weekday].some((text) => /[*?](,|$)/.test(text));
          expect(words.includes(' or ')).toBe(either);
        },
      ),
      { numRuns: numRuns(1000) },
    );
  });
});
