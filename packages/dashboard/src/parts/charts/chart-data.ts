import type { Chart, ChartDivision, ChartForm, ChartMeasure, Stats, StatsCounts } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import type { PlotSeries } from '../plot/plot-types.ts';
import { failuresOf } from '../plot/run-stats.ts';

/** The settings of a chart that determine its data and form. */
export type ChartQuestion = Pick<Chart, 'measure' | 'by' | 'task' | 'queue' | 'version' | 'period' | 'form'>;

/** Maximum number of series: one for each color. */
const colors = ['--busy', '--warn', '--waiting', '--good', '--bad', '--accent', '--quiet'] as const;

interface MeasureWords {
  readonly label: string;
  readonly of: (counts: StatsCounts) => number | null;
  readonly format?: (value: number) => string;
}

const percent = (share: number): string =>
  `${(share * 100).toLocaleString('en', { maximumFractionDigits: 1 })}%`;

export const measures: Readonly<Record<ChartMeasure, MeasureWords>> = {
  runs: { label: 'Runs', of: ({ triggered }) => triggered },
  completed: { label: 'Completed runs', of: ({ completed }) => completed },
  failures: { label: 'Failed runs', of: failuresOf },
  failureRate: {
    label: 'Failure rate',
    of(counts) {
      const failed = failuresOf(counts);
      return failed + counts.completed === 0 ? null : failed / (failed + counts.completed);
    },
    format: percent,
  },
  retries: { label: 'Retries', of: ({ retried }) => retried },
  durationP50: { label: 'Duration, p50', of: ({ duration }) => duration.p50, format: readableDuration },
  durationP95: { label: 'Duration, p95', of: ({ duration }) => duration.p95, format: readableDuration },
  waitP50: { label: 'Queue time, p50', of: ({ wait }) => wait.p50, format: readableDuration },
  waitP95: { label: 'Queue time, p95', of: ({ wait }) => wait.p95, format: readableDuration },
  waiting: { label: 'Peak queue depth', of: ({ waiting }) => waiting },
};

export const divisions: Readonly<Record<ChartDivision, string>> = {
  task: 'task',
  queue: 'queue',
  version: 'version',
  status: 'final status',
};

export const forms: Readonly<Record<ChartForm, string>> = {
  line: 'Line',
  bars: 'Bars',
  table: 'Table',
  number: 'One number',
};

const statuses: readonly (readonly [name: string, color: string, of: (counts: StatsCounts) => number])[] = [
  ['Completed', '--good', ({ completed }) => completed],
  ['Failed', '--bad', ({ failed }) => failed],
  ['Crashed', '--warn', ({ crashed }) => crashed],
  ['System failure', '--accent', ({ systemFailure }) => systemFailure],
  ['Timed out', '--waiting', ({ timedOut }) => timedOut],
  ['Canceled', '--quiet', ({ canceled }) => canceled],
  ['Expired', '--busy', ({ expired }) => expired],
];

/** The request for the data of a chart. */
export const queryOf = ({ by, task, queue, version, period }: ChartQuestion) => ({
  period,
  ...(by !== null && by !== 'status' && { by, limit: colors.length }),
  ...(task !== null && { task }),
  ...(queue !== null && { queue }),
  ...(version !== null && { version }),
});

/** The series of a chart. `total` is its value for the whole period. */
export function seriesOf(
  { measure, by, form }: ChartQuestion,
  { series }: Pick<Stats, 'series'>,
): (PlotSeries & { readonly total: number | null })[] {
  const kind = form === 'bars' ? 'bars' : 'line';
  if (by === 'status') {
    const [all] = series;
    return all
      ? statuses.map(([name, color, of]) => ({
          name,
          color,
          kind,
          values: all.points.map(of),
          total: of(all.total),
        }))
      : [];
  }
  const { label, of } = measures[measure];
  return series.map(({ name, points, total }, index) => ({
    name: name ?? label,
    color: colors[index % colors.length] ?? colors[0],
    kind,
    values: points.map(of),
    total: of(total),
  }));
}

/** Counts may be on top of each other; shares and times may not. */
export const isStackable = ({ measure, form }: ChartQuestion): boolean =>
  form === 'bars' && ['runs', 'completed', 'failures', 'retries'].includes(measure);

export const formatOf = (measure: ChartMeasure): ((value: number) => string) =>
  measures[measure].format ?? ((value) => value.toLocaleString('en'));

/** The question in words: `Failure rate of task mail, 7d`. */
export function questionText({ measure, by, task, queue, version, period }: ChartQuestion): string {
  const subject = task ?? queue ?? version;
  const kind = task === null ? (queue === null ? 'version' : 'queue') : 'task';
  return [
    measures[measure].label,
    ...(subject === null ? [] : [` of ${kind} ${subject}`]),
    ...(by === null ? [] : [` by ${divisions[by]}`]),
    `, ${period}`,
  ].join('');
}
