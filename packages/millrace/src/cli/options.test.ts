import { describe, expect, test } from 'vitest';
import { address, environment, instant, json, percentage, port, positiveInteger } from './options.ts';

describe('values of options', () => {
  test('a port is 0 to 65535', () => {
    expect([port('0'), port('65535')]).toEqual([0, 65_535]);
    for (const text of ['-1', '65536', '1e3', '', ' 80', '80.5'])
      expect(() => port(text)).toThrow(/0 .* to 65535/);
  });

  test('an environment has several names', () => {
    expect([environment('staging'), environment('prod')]).toEqual(['stg', 'prod']);
    expect(() => environment('test')).toThrow(/dev, stg, prod or preview/);
  });

  test('a payload is JSON', () => {
    expect(json('{"a":[1]}')).toEqual({ a: [1] });
    expect(() => json('{a:1}')).toThrow(/Must be JSON/);
  });

  test('an address is http or https, without its trailing slash', () => {
    expect(address('http://127.0.0.1:4400/')).toBe('http://127.0.0.1:4400');
    for (const text of ['127.0.0.1:4400', 'ftp://x', ''])
      expect(() => address(text)).toThrow(/http or https/);
  });

  test('a time must exist, and is the same on every machine', () => {
    expect(instant('2026-01-15')).toEqual(new Date('2026-01-15T00:00:00Z'));
    expect(instant('2026-01-15T12:00+02:00')).toEqual(new Date('2026-01-15T10:00:00Z'));
    for (const text of [
      '2026-02-30',
      '2026-02-30T00:00:00Z',
      '2026-01-15T24:00:00Z',
      '2026-01-15T12:00:00',
      '10',
    ])
      expect(() => instant(text), text).toThrow(/a valid date/);
  });

  test('a percentage of new runs is neither 0 nor 100', () => {
    expect([percentage('1'), percentage('99')]).toEqual([1, 99]);
    for (const text of ['0', '100', '1.5', '-1', 'x'])
      expect(() => percentage(text)).toThrow(/from 1 to 99\. Omit it for all runs/);
  });

  test('a count is above 0', () => {
    expect(positiveInteger('12')).toBe(12);
    for (const text of ['0', '-1', '1.5', 'x']) expect(() => positiveInteger(text)).toThrow(/above 0/);
  });
});
