import { useAsk } from '../../api/ask.ts';
import { countText } from '../../parts/count-text.ts';
import { Legend, Plot } from '../../parts/plot/plot.tsx';

interface FailureHistogramProps {
  readonly time: { readonly period?: string; readonly from?: string; readonly to?: string };
  readonly onRange: (from: number, to: number) => void;
}

/** Failed runs over the range, and the number of new and recurring groups. Selecting a range filters the list by that time. */
export function FailureHistogram({ time, onRange }: FailureHistogramProps) {
  const stats = useAsk('retrieveStats', { query: time }, { live: 30_000 });
  const all = stats.data?.series[0];
  const points = all?.points ?? [];
  const series = [
    { name: 'Failed', color: '--bad', values: points.map(({ failed }) => failed) },
    {
      name: 'Crashed or timed out',
      color: '--warn',
      values: points.map((point) => point.crashed + point.timedOut + point.systemFailure),
    },
  ];
  return (
    <div className="card failure-histogram">
      <Legend series={series}>
        {all && (
          <span className="legend-note number">
            {countText(all.total.newErrors, 'new group')}, {all.total.regressedErrors.toLocaleString('en')}{' '}
            occurred again. Drag, or use arrow keys, to select a range.
          </span>
        )}
      </Legend>
      <Plot
        label="Failed runs by outcome"
        times={points.map(({ at }) => Date.parse(at))}
        series={series}
        isStacked
        height={72}
        onRange={onRange}
      />
    </div>
  );
}
