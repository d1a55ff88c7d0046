import { expect, test } from 'vitest';
import { nextVersion } from './next-version.ts';

const now = Date.parse('2026-11-23T10:00:00Z');

test('the next version is the next of its day, or the first of today', () => {
  expect(nextVersion('20261123.2', now)).toBe('20261123.3');
  expect(nextVersion('20261122.41', now)).toBe('20261123.1');
  expect(nextVersion('20261124.1', now)).toBe('20261124.2');
  expect(nextVersion(undefined, now)).toBe('20261123.1');
  expect(nextVersion('v3', now)).toBeUndefined();
});
