import type { StatsSeries } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { Plot } from '../../parts/plot/plot.tsx';
import type { PlotSeries } from '../../parts/plot/plot-types.ts';
import { useGoTo } from '../../parts/page-link.tsx';

const iso = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

/** How runs ended, what waited, and how long it took: on the same axis. */
export function Series({ stats }: { readonly stats: StatsSeries | undefined }) {
  const goTo = useGoTo();
  const points = stats?.points ?? [];
  const times = points.map(({ at }) => Date.parse(at));
  return (
    <div className="series">
      <Card
        title="Runs that ended"
        times={times}
        series={[
          { name: 'Completed', color: '--good', values: points.map(({ completed }) => completed) },
          {
            name: 'Failed',
            color: '--bad',
            values: points.map((one) => one.failed + one.crashed + one.systemFailure + one.timedOut),
          },
          {
            name: 'Canceled or expired',
            color: '--quiet',
            values: points.map(({ canceled, expired }) => canceled + expired),
          },
        ]}
        isStacked
        onRange={(from, to) => goTo('/runs', { q: `from:${iso(from)} to:${iso(to)}` })}
      />
      <Card
        title="Waiting, at most"
        times={times}
        series={[
          { name: 'Runs', color: '--held', kind: 'area', values: points.map(({ waiting }) => waiting) },
        ]}
      />
      <Card
        title="Time at work"
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
  <section className="card series-card" aria-label={title}>
    <div className="row spread wrap">
      <h2>{title}</h2>
      <div className="legend">
        {series.map(({ name, color }) => (
          <span key={name}>
            <span className="legend-mark" style={{ color: `var(${color})` }} />
            {name}
          </span>
        ))}
      </div>
    </div>
    <Plot label={title} series={series} height={132} {...plot} />
  </section>
);
