import { expect, test } from 'vitest';
import { around, moved, zoomed } from './window.ts';

const whole = { from: 0, to: 1_000 };

test('zooms in around a visible line, and out to the whole line', () => {
  expect(zoomed(whole, whole, 0.5)).toEqual({ from: 250, to: 750 });
  expect(zoomed(whole, whole, 0.5, { from: 0, to: 100 })).toEqual({ from: 0, to: 500 });
  expect(zoomed({ from: 0, to: 500 }, whole, 0.5, { from: 900, to: 950 })).toEqual({ from: 125, to: 375 });
  expect(zoomed({ from: 250, to: 750 }, whole, 2)).toBeUndefined();
});

test('moves to the edge and no further', () => {
  expect(moved({ from: 0, to: 400 }, whole, 0.25)).toEqual({ from: 100, to: 500 });
  expect(moved({ from: 0, to: 400 }, whole, -1)).toEqual({ from: 0, to: 400 });
  expect(moved({ from: 700, to: 900 }, whole, 2)).toEqual({ from: 800, to: 1_000 });
});

test('has a line with room on both sides, also one that took no time', () => {
  expect(around({ from: 400, to: 500 }, whole)).toEqual({ from: 390, to: 510 });
  expect(around({ from: 400, to: 400 }, whole)).toEqual({ from: 399.5, to: 400.5 });
});
