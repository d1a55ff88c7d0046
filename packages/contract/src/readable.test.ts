import { expect, test } from 'vitest';
import { readableDuration, readableSize } from './readable.ts';

test.each([
  [-1, '0ms'],
  [0, '0ms'],
  [0.4, '0.4ms'],
  [2.55, '2.5ms'],
  [999.4, '999ms'],
  [1_290, '1.2s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [83_000, '1m 23s'],
  [3_600_000, '1h'],
  [90_061_000, '1d 1h'],
])('%d ms are %s', (ms, text) => {
  expect(readableDuration(ms)).toBe(text);
});

test.each([
  [512, '512 B'],
  [3_210, '3.2 kB'],
  [800_400, '800 kB'],
  [1_572_864, '1.6 MB'],
  [2_000_000_000_000_000, '2000 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(readableSize(bytes)).toBe(text);
});
