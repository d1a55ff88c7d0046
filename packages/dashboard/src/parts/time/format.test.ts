import { expect, test } from 'vitest';
import { shortId } from '../id-text.ts';
import { visibleControls } from '../json/visible-controls.ts';
import { runStatusBadges } from '../status/run-status.ts';
import { exactText, relativeText } from './format.ts';

test.each([
  [1_000, 'now'],
  [65_000, '1m ago'],
  [-65_000, 'in 1m'],
  [40 * 3_600_000, '40h ago'],
  [3 * 86_400_000, '3d ago'],
])('%d ms before now is %s', (ms, text) => {
  expect(relativeText(1e12 - ms, 1e12)).toBe(text);
});

test('the exact instant is in the selected zone', () => {
  const at = Date.parse('2026-11-23T17:36:02.128Z');
  expect(exactText(at, 'UTC')).toBe('23 Nov 2026, 17:36:02.128 UTC');
  expect(exactText(at, 'Asia/Kolkata')).toContain('23:06:02.128');
});

test('a long id is cut in the middle', () => {
  expect(shortId('run_01kq4h2m0v8x5t3n9w7c6d5e4f')).toBe('run_…c6d5e4f');
  expect(shortId('run_1')).toBe('run_1');
});

test('control characters and direction marks have no effect and are visible', () => {
  expect(visibleControls('a\u001b[31m\u202eb\n\tc')).toBe('a␛[31m⟨U+202E⟩b\n\tc');
  expect(visibleControls('שלום 👋')).toBe('שלום 👋');
});

test('each status has a unique word and shape', () => {
  const all = Object.values(runStatusBadges);
  expect(new Set(all.map(({ word }) => word)).size).toBe(all.length);
  // A run that is starting looks like one that is executing.
  expect(new Set(all.map(({ glyph }) => glyph)).size).toBe(all.length - 1);
});
