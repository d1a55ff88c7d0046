import type { RunFilterQuery } from '@millrace/contract/filter';
import { useAsk } from '../../api/ask.ts';
import { Legend, Plot } from '../../parts/plot/plot.tsx';
import { endedSeries } from '../../parts/plot/run-stats.ts';

/** The supported filters of time series: one task, queue or version. */
function statsQueryOf(query: RunFilterQuery) {
  const only = (name: string): string | undefined => {
    const value = query[name];
    return value === undefined || value.includes(',') ? undefined : value;
  };
  const [from, to] = [query['filter[createdAt][from]'], query['filter[createdAt][to]']];
  const period = query['filter[createdAt][period]'];
  const range =
    period !== undefined
      ? { period }
      : from === undefined && to === undefined
        ? { period: '7d' }
        : { from, to };
  const task = only('filter[taskIdentifier]');
  const queue = task === undefined ? only('filter[queue]') : undefined;
  const version = task === undefined && queue === undefined ? only('filter[version]') : undefined;
  const used = new Set(['filter[createdAt][period]', 'filter[createdAt][from]', 'filter[createdAt][to]']);
  if (task !== undefined) used.add('filter[taskIdentifier]');
  if (queue !== undefined) used.add('filter[queue]');
  if (version !== undefined) used.add('filter[version]');
  return {
    statsQuery: { ...range, task, queue, version },
    /** Whether there are other filters, which the series ignore. */
    isNarrower: Object.keys(query).some((name) => !used.has(name) && name !== 'filter[status]'),
    subject: task ?? queue ?? version,
  };
}

interface RunHistogramProps {
  readonly query: RunFilterQuery;
  readonly onRange: (from: number, to: number) => void;
}

/** Runs by outcome over the range of the list. Selecting a range filters the list by that time. */
export function RunHistogram({ query, onRange }: RunHistogramProps) {
  const { statsQuery, isNarrower, subject } = statsQueryOf(query);
  const stats = useAsk('retrieveStats', { query: statsQuery }, { live: 30_000 });
  const points = stats.data?.series[0]?.points ?? [];
  const series = endedSeries(points);
  return (
    <div className="card histogram">
      <Legend series={series}>
        <span className="histogram-note">
          {subject === undefined ? 'All runs that ended' : `Runs of ${subject} that ended`}
          {isNarrower && ', without the other filters'}. Drag, or use arrow keys, to select a range.
        </span>
      </Legend>
      <Plot
        label="Ended runs by outcome"
        times={points.map(({ at }) => Date.parse(at))}
        series={series}
        isStacked
        height={84}
        onRange={onRange}
      />
    </div>
  );
}
