import type { StatsCounts } from '@millrace/contract';
import { expect, test } from 'vitest';
import { formatOf, isStackable, queryOf, questionText, seriesOf, type ChartQuestion } from './chart-data.ts';

const chart: ChartQuestion = {
  measure: 'failureRate',
  by: null,
  task: null,
  queue: null,
  version: null,
  period: '7d',
  form: 'line',
};
const times = { count: 0, average: null, p50: null, p95: null, p99: null };
const counts = (more: Partial<StatsCounts> = {}): StatsCounts => ({
  triggered: 0,
  completed: 0,
  failed: 0,
  crashed: 0,
  systemFailure: 0,
  timedOut: 0,
  canceled: 0,
  expired: 0,
  retried: 0,
  newErrors: 0,
  regressedErrors: 0,
  wait: times,
  duration: times,
  waiting: null,
  oldestMs: null,
  ...more,
});
const point = (more: Partial<StatsCounts> = {}) => ({ at: '2026-11-30T00:00:00.000Z', ...counts(more) });

test('a failure rate is the share of failed runs among the ended ones, and unknown without runs', () => {
  const points = [point({ completed: 3, failed: 1 }), point({ canceled: 9 })];
  const [series] = seriesOf(chart, {
    series: [{ name: null, total: counts({ completed: 3, crashed: 1 }), points }],
  });
  expect(series).toMatchObject({ name: 'Failure rate', values: [0.25, null], total: 0.25, kind: 'line' });
  expect(formatOf('failureRate')(0.2512)).toBe('25.1%');
  expect(formatOf('runs')(1_234)).toBe('1,234');
});

test('a division by status has a series for each final status of one request', () => {
  const byStatus = { ...chart, measure: 'runs', by: 'status', task: 'mail', form: 'bars' } as const;
  expect(queryOf(byStatus)).toEqual({ period: '7d', task: 'mail' });
  const series = seriesOf(byStatus, {
    series: [{ name: 'mail', total: counts({ failed: 2 }), points: [point({ failed: 2 })] }],
  });
  expect(series).toHaveLength(7);
  expect(series.find(({ name }) => name === 'Failed')).toMatchObject({ values: [2], total: 2, kind: 'bars' });
  expect([isStackable(byStatus), isStackable({ ...byStatus, measure: 'waitP95' })]).toEqual([true, false]);
});

test('a division by task has a color for each series', () => {
  const byTask = { ...chart, measure: 'runs', by: 'task' } as const;
  expect(queryOf(byTask)).toEqual({ period: '7d', by: 'task', limit: 7 });
  const series = ['a', 'b'].map((name) => ({ name, total: counts({ triggered: 1 }), points: [] }));
  expect(new Set(seriesOf(byTask, { series }).map(({ color }) => color)).size).toBe(2);
});

test.each([
  [{}, 'Failure rate, 7d'],
  [{ task: 'mail' }, 'Failure rate of task mail, 7d'],
  [{ queue: 'task/mail', by: 'status' }, 'Failure rate of queue task/mail by final status, 7d'],
  [{ measure: 'durationP95', by: 'version', period: '24h' }, 'Duration, p95 by version, 24h'],
] as const)('the question of %j in words', (settings, text) => {
  expect(questionText({ ...chart, ...settings })).toBe(text);
});
