import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { duration, screenOn, table } from './screen.ts';

it.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [1_000, '1.0 s'],
  [1_290, '1.2 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min 0 s'],
  [125_900, '2 min 5 s'],
])('%d milliseconds are %j', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('aligns columns and leaves the last one alone', () => {
  expect(
    table([
      ['id', 'error'],
      ['error_1', 'x'],
      ['e', ''],
    ]),
  ).toEqual(['id       error', 'error_1  x', 'e']);
});

it('writes no colours to what is no terminal', () => {
  const pipe = new PassThrough({ encoding: 'utf8' });
  const { line, paint } = screenOn(pipe);
  // Not by itself: a CI is not a terminal.
  expect(paint.isColorSupported).toBe(false);
  line(paint.red('bad'));
  expect(pipe.read()).toBe('bad\n');
});
