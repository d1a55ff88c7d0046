import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CronError, parseWindow, windowOffset } from './index.ts';

describe('parseWindow', () => {
  test.each([
    ['0m', { kind: 'length', ms: 0 }],
    ['15m', { kind: 'length', ms: 900_000 }],
    ['1440m', { kind: 'length', ms: 86_400_000 }],
    ['24h', { kind: 'length', ms: 86_400_000 }],
    ['0%', { kind: 'share', percent: 0 }],
    ['100%', { kind: 'share', percent: 100 }],
  ])('reads %s', (text, window) => {
    expect(parseWindow(text)).toEqual(window);
  });

  test.each([
    ['25h', 'longer than 24 hours'],
    ['1441m', 'longer than 24 hours'],
    ['101%', 'write 0% to 100%'],
    ...['', '5', 'm', '-5m', '1.5h', '5 m', '5s', '1d', '1h30m', '5M', '9999999m', '٣m'].map((text) => [
      text,
      'Write whole minutes or hours up to 24h',
    ]),
  ] as [string, string][])('rejects "%s" with a correction', (text, message) => {
    expect(() => parseWindow(text)).toThrow(CronError);
    expect(() => parseWindow(text)).toThrow(message);
  });
});

describe('windowOffset', () => {
  test('is less than the window, and the same for every run of a schedule', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 1440 }), fc.nat(1e10), (id, minutes, interval) => {
        const window = parseWindow(`${minutes}m`);
        const offset = windowOffset(window, id, interval);
        expect(Number.isInteger(offset) && offset >= 0 && offset < Math.max(1, minutes * 60_000)).toBe(true);
        expect(windowOffset(window, id, interval + 1)).toBe(offset);
      }),
    );
  });

  test('applies a percentage to the time until the next run, and to zero without one', () => {
    const hour = windowOffset(parseWindow('1h'), 'sched_a', 0);
    expect(windowOffset(parseWindow('50%'), 'sched_a', 7_200_000)).toBe(hour);
    expect(windowOffset(parseWindow('100%'), 'sched_a', 3_600_000)).toBe(hour);
    expect(windowOffset(parseWindow('50%'), 'sched_a', 0)).toBe(0);
    expect(windowOffset(parseWindow('0%'), 'sched_a', 7_200_000)).toBe(0);
  });

  test('returns the same number as earlier versions, so that an upgrade does not move schedules', () => {
    expect(windowOffset(parseWindow('24h'), 'sched_a', 0)).toBe(26_570_953);
  });

  test('spreads schedules evenly, even when their ids differ in one character', () => {
    const slots = Array.from({ length: 60 }, () => 0);
    for (let i = 0; i < 60_000; i++) {
      const slot = Math.floor(windowOffset(parseWindow('60m'), `sched_${i}`, 0) / 60_000);
      slots[slot] = (slots[slot] ?? 0) + 1;
    }
    expect(Math.min(...slots)).toBeGreaterThan(850);
    expect(Math.max(...slots)).toBeLessThan(1150);
  });
});
