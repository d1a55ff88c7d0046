import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matches, piecesOf } from './pattern.ts';
import { cpuTimeOf } from '../../../../../test/support/cpu-time.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const match = (pattern: string, text: string) => matches(piecesOf(pattern), text);

describe('a pattern', () => {
  test('without a star matches the whole text', () => {
    expect(match('boom', 'boom')).toBe(true);
    expect(match('boom', 'boom!')).toBe(false);
    expect(match('Boom', 'boom')).toBe(false);
    expect(match('', '')).toBe(true);
  });

  test('has stars that match anything, including nothing and several lines', () => {
    expect(match('*', '')).toBe(true);
    expect(match('timeout*', 'timeout of 3 ms\nafter two tries')).toBe(true);
    expect(match('*timeout*', 'a timeout')).toBe(true);
    expect(match('a*b*c', 'a-b-b-c')).toBe(true);
    expect(match('a*b*c', 'a-c-b')).toBe(false);
  });

  test('does not use a character twice', () => {
    expect(match('ab*ba', 'aba')).toBe(false);
    expect(match('a*a*a', 'aa')).toBe(false);
    expect(match('a*bc*c', 'abc')).toBe(false);
  });

  test('matches literal stars and backslashes after a backslash', () => {
    expect(match('5 \\* 3', '5 * 3')).toBe(true);
    expect(match('5 \\* 3', '5 x 3')).toBe(false);
    expect(match('C:\\\\*', 'C:\\temp')).toBe(true);
    expect(match('C:\\temp\\', 'C:\\temp\\')).toBe(true);
  });

  test('is equivalent to a regular expression', () => {
    const letters = fc
      .array(fc.constantFrom('a', 'b', '*', '.'), { maxLength: 8 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const escaped = pattern.replaceAll('.', '\\.').replaceAll('*', '[^]*');
        expect(match(pattern, text)).toBe(new RegExp(`^${escaped}$`).test(text));
      }),
      { numRuns: numRuns(2_000) },
    );
  });

  test('in the worst case takes negligible time', () => {
    const pattern = 'a*'.repeat(250) + 'b';
    const time = cpuTimeOf(() => {
      for (let n = 0; n < 1_000; n++) match(pattern, 'a'.repeat(2_048));
    });
    expect(time).toBeLessThan(5_000);
  });
});
