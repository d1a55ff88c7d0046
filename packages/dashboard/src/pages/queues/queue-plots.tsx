import { readableDuration } from '@millrace/contract/plain';
import { OverTime } from '../../parts/plot/over-time.tsx';
import { endedSeries } from '../../parts/plot/run-stats.ts';

const ranges = ['1h', '6h', '1d', '7d'];

/** Queue depth, waiting times and outcomes over the range in the address. */
export const QueuePlots = ({ name }: { readonly name: string }) => (
  <OverTime
    subject={{ queue: name }}
    ranges={ranges}
    defaultRange="6h"
    plotsOf={(points) => [
      {
        title: 'Waiting',
        label: 'Peak number of waiting runs',
        series: [
          { name: 'Waiting', color: '--waiting', kind: 'area', values: points.map(({ waiting }) => waiting) },
        ],
      },
      {
        title: 'Queue time, p95',
        label: 'Queue time, p95',
        format: readableDuration,
        series: [{ name: 'p95', color: '--busy', kind: 'line', values: points.map(({ wait }) => wait.p95) }],
      },
      { title: 'Ended', label: 'Runs that ended', isStacked: true, series: endedSeries(points) },
    ]}
  />
);
