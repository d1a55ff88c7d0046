import { describe, expect, test } from 'vitest';
import { CronError, parseCron, requireDates } from './index.ts';

const bits = (mask: number): number[] =>
  Array.from({ length: 32 }, (_, i) => i).filter((i) => (mask >>> i) & 1);

describe('parseCron', () => {
  test('reads ranges, lists, steps and first values with a step', () => {
    const cron = parseCron('5,10-12 */6 1-10/4 3/4 1-5');
    expect(cron.minutes).toEqual([5, 10, 11, 12]);
    expect(bits(cron.hours)).toEqual([0, 6, 12, 18]);
    expect(bits(cron.days)).toEqual([1, 5, 9]);
    expect(bits(cron.months)).toEqual([3, 7, 11]);
    expect(bits(cron.weekdays)).toEqual([1, 2, 3, 4, 5]);
  });

  test('reads names in any case', () => {
    const cron = parseCron('0 0 * Jan-MAR,dec Mon,FRI');
    expect(bits(cron.months)).toEqual([1, 2, 3, 12]);
    expect(bits(cron.weekdays)).toEqual([1, 5]);
  });

  test.each(['7', '0', 'sun', '7-7', '0,7', '7/2'])('reads %s as Sunday', (weekday) => {
    expect(bits(parseCron(`0 0 * * ${weekday}`).weekdays)).toEqual([0]);
  });

  test.each([
    ['5-7', [0, 5, 6]],
    ['fri-sun', [0, 5, 6]],
    ['0-7', [0, 1, 2, 3, 4, 5, 6]],
    ['1/2', [1, 3, 5]],
    ['*/7', [0]],
  ])('reads the weekdays %s', (weekday, expected) => {
    expect(bits(parseCron(`0 0 * * ${weekday}`).weekdays)).toEqual(expected);
  });

  test('reads L as the last day of the month, alone or in a list', () => {
    expect(parseCron('0 0 L * *')).toMatchObject({ lastDay: true, days: 0 });
    const cron = parseCron('0 0 1,l * *');
    expect([cron.lastDay, bits(cron.days)]).toEqual([true, [1]]);
  });

  test.each([
    ['5L', [5]],
    ['7L', [0]],
    ['0L', [0]],
    ['friL', [5]],
    ['1L,5L', [1, 5]],
  ])('reads %s as the last such weekday of the month', (weekday, expected) => {
    const cron = parseCron(`0 0 * * ${weekday}`);
    expect([bits(cron.lastWeekdays), bits(cron.weekdays)]).toEqual([expected, []]);
  });

  test.each([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@Daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
    [' 0  9\t* * 1-5 ', '0 9 * * 1-5'],
  ])('expands %s to %s', (text, meaning) => {
    expect(parseCron(text).text).toBe(meaning);
  });

  test.each([
    ['30 2 * * *', true],
    ['0-59 0-23 * * *', true],
    ['0,30 1,2 */2 * *', true],
    ['* 2 * * *', false],
    ['0 ? * * *', false],
    ['5/20 2 * * *', false],
    ['0 0-12/3 * * *', false],
  ])('detects whether %s is fixed: %s', (text, fixed) => {
    expect(parseCron(text).fixed).toBe(fixed);
  });

  test.each([
    ['0 0 13 * 5', true],
    ['0 0 */2 * 1', true],
    ['0 0 13 * *', false],
    ['0 0 ? * 5', false],
    ['0 0 13 * ?', false],
  ])('detects whether either kind of day is enough for %s: %s', (text, eitherDay) => {
    expect(parseCron(text).eitherDay).toBe(eitherDay);
  });

  test.each([
    [
      '* * * * * *',
      "CRON expressions with seconds are not allowed: '* * * * * *' has 6 fields; write five, for instance '* * * * *' without the seconds.",
    ],
    [
      '0 0 12 1 1 ? 2026',
      "CRON expressions with seconds are not allowed: '0 0 12 1 1 ? 2026' has 7 fields; write five.",
    ],
    ['', 'it is empty; write five fields'],
    ['* * * *', "'* * * *' has 4 fields; write five"],
    ['noon', "'noon' has 1 field; write five"],
    ['@reboot', "'@reboot' is not a known alias; write @yearly"],
    ['60 * * * *', '60 is out of range in the minute field; write 0-59.'],
    ['* 24 * * *', '24 is out of range in the hour field; write 0-23.'],
    ['* * 0 * *', '0 is out of range in the day-of-month field; write 1-31 or L.'],
    ['* * 1-32 * *', '32 is out of range in the day-of-month field'],
    ['* * * 13 *', '13 is out of range in the month field; write 1-12 or jan-dec.'],
    ['* * * * 8', '8 is out of range in the day-of-week field; write 0-7, sun-sat or 1L-7L.'],
    ['* * * * 8L', '8 is out of range in the day-of-week field'],
    ['5-1 * * * *', "the range '5-1' in the minute field runs backwards; write two ranges, 5-59,0-1."],
    ['* 23-4 * * *', "the range '23-4' in the hour field runs backwards; write two ranges, 23,0-4."],
    ['* * * dec-jan *', "the range 'dec-jan' in the month field runs backwards; write two ranges, dec,jan."],
    ['* * * * 5-0', "the range '5-0' in the day-of-week field runs backwards; write 5-7."],
    ['* * * * 6-1', "the range '6-1' in the day-of-week field runs backwards; write two ranges, 6,0-1."],
    ['*/0 * * * *', "the step of '*/0' in the minute field is 0"],
    ['* */25 * * *', "the step of '*/25' in the hour field is larger than the field; write a step of 1-24."],
    ['1,,2 * * * *', "'1,,2' in the minute field has an empty item"],
    ['1- * * * *', "'1-' is not understood in the minute field"],
    ['-1 * * * *', "'-1' is not understood in the minute field"],
    ['1-2-3 * * * *', "'1-2-3' is not understood in the minute field"],
    ['1.5 * * * *', "'1.5' is not understood in the minute field"],
    ['*-5 * * * *', "'*-5' is not understood in the minute field"],
    ['*/x * * * *', "'*/x' is not understood in the minute field"],
    ['* noon * * *', "'noon' is not understood in the hour field"],
    ['L * * * *', "'l' is not understood in the minute field"],
    ['* * L-3 * *', "'l-3' is not understood in the day-of-month field"],
    ['* * 15W * *', "'15w' in the day-of-month field is not supported"],
    ['* * * * 5#2', "'5#2' in the day-of-week field is not supported"],
    ['* * * * L', 'write 6L for the last Saturday of the month'],
    ['* * * mon *', "'mon' is not understood in the month field"],
    [`${'1,'.repeat(600)}1 * * * *`, 'it is longer than 1000 characters'],
  ])('rejects "%s" with a correction', (text, message) => {
    expect(() => parseCron(text)).toThrow(CronError);
    expect(() => parseCron(text)).toThrow(message);
  });

  test.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 30-31 feb ?'])(
    'rejects %s, whose dates never occur',
    (text) => {
      const cron = parseCron(text);
      expect(cron.never).toBe(true);
      expect(() => requireDates(cron)).toThrow(
        `Invalid cron expression: '${text}' names dates that never occur; write`,
      );
    },
  );

  test.each(['0 0 29 2 *', '0 0 31 1,2 *', '0 0 30 2 1', '0 0 30,L 2 *'])(
    'accepts %s, whose dates occur',
    (text) => {
      const cron = parseCron(text);
      expect(cron.never).toBe(false);
      expect(() => requireDates(cron)).not.toThrow();
    },
  );
});
