import type { StatsSeries } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { Legend, Plot } from '../../parts/plot/plot.tsx';
import { endedSeries } from '../../parts/plot/run-stats.ts';
import type { PlotSeries } from '../../parts/plot/plot-types.ts';
import { useGoTo } from '../../parts/page-link.tsx';

const iso = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

/** Outcomes, queue depth and durations of runs on a common axis. */
export function Series({ stats }: { readonly stats: StatsSeries | undefined }) {
  const goTo = useGoTo();
  const points = stats?.points ?? [];
  const times = points.map(({ at }) => Date.parse(at));
  return (
    <div className="series">
      <Card
        title="Ended runs"
        times={times}
        series={endedSeries(points)}
        isStacked
        onRange={(from, to) => goTo('/runs', { q: `from:${iso(from)} to:${iso(to)}` })}
      />
      <Card
        title="Peak queue depth"
        times={times}
        series={[
          { name: 'Runs', color: '--waiting', kind: 'area', values: points.map(({ waiting }) => waiting) },
        ]}
      />
      <Card
        title="Duration"
        times={times}
        format={readableDuration}
        series={[
          { name: 'p50', color: '--busy', kind: 'line', values: points.map(({ duration }) => duration.p50) },
          { name: 'p95', color: '--warn', kind: 'line', values: points.map(({ duration }) => duration.p95) },
        ]}
      />
    </div>
  );
}

interface CardProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  readonly isStacked?: boolean;
  readonly format?: (value: number) => string;
  readonly onRange?: (from: number, to: number) => void;
}

const Card = ({ title, series, ...plot }: CardProps) => (
  <section className="card plot-card series-card" aria-label={title}>
    <div className="row spread wrap">
      <h2>{title}</h2>
      <Legend series={series} />
    </div>
    <Plot label={title} series={series} height={132} {...plot} />
  </section>
);
