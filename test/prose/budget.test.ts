import { expect, test } from 'vitest';
import { belowBudget, countsOf, overBudget } from './budget.ts';
import type { Finding } from './findings.ts';

const finding = (kind: string, area: Finding['area']): Finding => ({ kind, area, at: 'a.ts:1', text: '' });
const counts = countsOf([
  finding('is no', 'tests'),
  finding('is no', 'docs'),
  finding('is no', 'tests'),
  finding('as it is', 'sql'),
]);

test('counts findings by kind and area', () => {
  expect(counts).toEqual({ 'as it is': { sql: 1 }, 'is no': { docs: 1, tests: 2 } });
});

test('reports counts above the budget, and of kinds that it does not contain', () => {
  expect(overBudget(counts, { 'is no': { docs: 1, tests: 1 } })).toEqual([
    "as it is in sql: 1, but at most 0 are allowed. Run: npm run prose -- --list 'as it is'",
    "is no in tests: 2, but at most 1 are allowed. Run: npm run prose -- --list 'is no'",
  ]);
});

test('reports counts below the budget, and of kinds that no longer occur', () => {
  expect(
    belowBudget(counts, { 'as it is': { sql: 1 }, 'is no': { docs: 2, tests: 2 }, gone: { sql: 1 } }),
  ).toEqual([
    'gone in sql: 0, fewer than the 1 in the budget. Run: npm run prose -- --lower',
    'is no in docs: 1, fewer than the 2 in the budget. Run: npm run prose -- --lower',
  ]);
});
