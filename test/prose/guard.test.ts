/** The text of the repository reads like English: counts of known habits only fall (budget.json). */
import { expect, test } from 'vitest';
import { belowBudget, countsOf, overBudget, readBudget } from './budget.ts';
import { report } from './report.ts';

const { open, unused } = await report();
const counts = countsOf(open);

test('adds no text that reads as a translation, no banned identifier and no misspelled word', () => {
  expect(overBudget(counts, readBudget())).toEqual([]);
});

test('lowers the budget with the counts', () => {
  expect(belowBudget(counts, readBudget())).toEqual([]);
});

test('uses every entry of the list of allowed matches', () => {
  expect(unused).toEqual([]);
});
