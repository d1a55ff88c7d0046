import type { ReactNode } from 'react';
import { useAsk } from '../../api/ask.ts';
import { Failure, Skeleton } from '../failure.tsx';
import { visibleControls } from '../json/visible-controls.ts';
import { Legend, Plot } from '../plot/plot.tsx';
import {
  formatOf,
  isStackable,
  measures,
  queryOf,
  questionText,
  seriesOf,
  type ChartQuestion,
} from './chart-data.ts';
import './chart-card.css';

interface ChartCardProps {
  readonly name: string;
  readonly chart: ChartQuestion;
  /** Buttons next to the name. */
  readonly actions?: ReactNode;
}

/** A chart of the statistics with its name and its question. */
export const ChartCard = ({ name, chart, actions }: ChartCardProps) => (
  <section className="card plot-card chart-card" aria-label={visibleControls(name)}>
    <div className="row spread wrap">
      <h2>{visibleControls(name)}</h2>
      {actions && <div className="row">{actions}</div>}
    </div>
    <p className="muted small">{visibleControls(questionText(chart))}</p>
    <ChartData chart={chart} />
  </section>
);

/** The answer to a question in its form. */
export function ChartData({ chart }: { readonly chart: ChartQuestion }) {
  const stats = useAsk('retrieveStats', { query: queryOf(chart) }, { live: 30_000 });
  if (stats.error && !stats.data) return <Failure error={stats.error} onRetry={() => void stats.refetch()} />;
  if (!stats.data) return <Skeleton lines={4} label="Loading the chart" />;
  const series = seriesOf(chart, stats.data).map((each) => ({ ...each, name: visibleControls(each.name) }));
  const format = formatOf(chart.measure);
  const text = (value: number | null): string => (value === null ? '–' : format(value));
  if (series.length === 0) return <p className="muted">No runs in this period.</p>;
  if (chart.form === 'number') return <p className="chart-number number">{text(series[0]?.total ?? null)}</p>;
  if (chart.form === 'table')
    return (
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">{chart.by ?? 'Period'}</th>
            <th scope="col" className="is-end">
              {measures[chart.measure].label}
            </th>
          </tr>
        </thead>
        <tbody>
          {series.map(({ name, total }) => (
            <tr key={name}>
              <th scope="row">{chart.by === null ? chart.period : name}</th>
              <td className="is-end number">{text(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    );
  const times = stats.data.series[0]?.points.map(({ at }) => Date.parse(at)) ?? [];
  return (
    <>
      {series.length > 1 && <Legend series={series} />}
      <Plot
        label={questionText(chart)}
        times={times}
        series={series}
        isStacked={isStackable(chart)}
        format={format}
        height={132}
      />
    </>
  );
}
