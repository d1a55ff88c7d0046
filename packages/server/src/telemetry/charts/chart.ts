import type { Chart } from '@millrace/contract';
import { unprocessable } from '../../problem.ts';

export interface ChartRow {
  readonly id: string;
  readonly name: string;
  readonly measure: Chart['measure'];
  readonly division: Chart['by'];
  readonly task: string | null;
  readonly queue: string | null;
  readonly version: string | null;
  readonly period: string;
  readonly form: Chart['form'];
  readonly pinned: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export type ChartSettings = Omit<Chart, 'id' | 'createdAt' | 'updatedAt'>;

export const settingsOf = (row: ChartRow): ChartSettings => ({
  name: row.name,
  measure: row.measure,
  by: row.division,
  task: row.task,
  queue: row.queue,
  version: row.version,
  period: row.period,
  form: row.form,
  isPinned: row.pinned,
});

export const chartOf = (row: ChartRow): Chart => ({
  id: row.id,
  ...settingsOf(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** Rejects settings that the statistics cannot answer. */
export function checkChart({ measure, by, form, ...filters }: ChartSettings): void {
  const set = (['task', 'queue', 'version'] as const).filter((name) => filters[name] !== null);
  if (set.length > 1)
    throw unprocessable(`${set.join(' and ')}: use at most one of task, queue and version.`);
  const [filter] = set;
  if (by !== null && by !== 'status' && filter !== undefined)
    throw unprocessable(`by: cannot be combined with ${filter}. Set one of them to null.`);
  if (by === 'status' && measure !== 'runs')
    throw unprocessable('by: only the measure `runs` can be divided by status.');
  if (by !== null && form === 'number')
    throw unprocessable('form: a number has one series. Set `by` to null, or use another form.');
}
