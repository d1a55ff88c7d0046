import { expect, test } from 'vitest';
import { compareVersions, isBefore, badgeOf } from './state-badge.ts';

test('versions are compared by day and counter, not as strings', () => {
  expect(compareVersions('20261121.10', '20261121.9')).toBeGreaterThan(0);
  expect(compareVersions('20261120.11', '20261121.1')).toBeLessThan(0);
  expect(isBefore({ version: '20261121.2' }, { version: '20261121.10' })).toBe(true);
  expect(isBefore({ version: '20261121.2' }, undefined)).toBe(false);
});

test('a canary is shown as a canary in every state', () => {
  expect(badgeOf({ state: 'ready', canaryPercent: 10 }).word).toBe('Canary 10 %');
  expect(badgeOf({ state: 'ready', canaryPercent: null }).word).toBe('Ready');
});
