import type { StatsCounts, StatsSeries } from '@millrace/contract';
import type { PlotSeries } from './plot-types.ts';

export type StatsPoints = StatsSeries['points'];

/** The number of failed runs. */
export const failuresOf = ({ failed, crashed, systemFailure, timedOut }: StatsCounts): number =>
  failed + crashed + systemFailure + timedOut;

/** Runs by outcome. */
export const endedSeries = (points: StatsPoints): readonly PlotSeries[] => [
  { name: 'Completed', color: '--good', values: points.map(({ completed }) => completed) },
  { name: 'Failed', color: '--bad', values: points.map(failuresOf) },
  {
    name: 'Canceled or expired',
    color: '--quiet',
    values: points.map(({ canceled, expired }) => canceled + expired),
  },
];
