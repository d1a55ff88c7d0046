import { expect, test } from 'vitest';
import { dollarsText } from './dollars.ts';

test.each([
  ['0', '$0'],
  ['12.3456', '$12.35'],
  ['1234.5', '$1,234.50'],
  ['0.01', '$0.01'],
  ['0.00012345', '$0.00012'],
  ['0.000000000001', '$0.000000000001'],
])('the amount %s is shown as %s', (cost, text) => {
  expect(dollarsText(cost)).toBe(text);
});
