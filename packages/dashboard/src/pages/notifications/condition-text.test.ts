import { expect, test } from 'vitest';
import { conditionText } from './condition-text.ts';

const usual = { threshold: 1, window: '5m', task: null, queue: null, owners: null, minRuns: null };

test('conditions read as sentences', () => {
  expect(conditionText({ ...usual, kind: 'error.new' })).toBe('A new error within 5m');
  expect(conditionText({ ...usual, kind: 'error.new', threshold: 3, task: 'charge' })).toBe(
    '3 new errors of charge within 5m',
  );
  expect(conditionText({ ...usual, kind: 'error.new', owners: ['@payments', '@mail'] })).toBe(
    'A new error within 5m, only of @payments, @mail',
  );
  expect(
    conditionText({ ...usual, kind: 'task.failureRate', threshold: 10, task: 'charge', minRuns: 50 }),
  ).toBe('More than 10 % of at least 50 runs of charge failed within 5m');
  expect(conditionText({ ...usual, kind: 'queue.age', threshold: 300, queue: 'mail', window: '1m' })).toBe(
    'A run in mail has waited for more than 300 s, for 1m',
  );
});
