import { useAsk } from '../../api/ask.ts';
import { Section } from '../page.tsx';
import { useSearchTexts } from '../search.ts';
import { Segments } from '../segments.tsx';
import type { PlotProps } from './plot-types.ts';
import { Plot } from './plot.tsx';
import type { StatsPoints } from './run-stats.ts';
import './over-time.css';

interface OverTimeProps {
  readonly subject: { readonly task: string } | { readonly queue: string };
  /** The choices of the range, which is stored in the address. */
  readonly ranges: readonly string[];
  readonly defaultRange: string;
  readonly plotsOf: (
    points: StatsPoints,
  ) => readonly (Omit<PlotProps, 'times'> & { readonly title: string })[];
}

/** The statistics of a task or a queue, each in a card. */
export function OverTime({ subject, ranges, defaultRange, plotsOf }: OverTimeProps) {
  const [{ range = defaultRange }, setSearch] = useSearchTexts();
  const stats = useAsk('retrieveStats', { query: { ...subject, period: range } }, { live: 30_000 });
  const points = stats.data?.series[0]?.points ?? [];
  const times = points.map(({ at }) => Date.parse(at));
  return (
    <Section
      title="Over time"
      actions={
        <Segments
          label="Time"
          options={ranges}
          value={range}
          onChange={(next) => setSearch({ range: next === defaultRange ? undefined : next })}
        />
      }
    >
      <div className="plot-cards">
        {plotsOf(points).map(({ title, ...plot }) => (
          <div key={title} className="card plot-card">
            <h3>{title}</h3>
            <Plot times={times} {...plot} />
          </div>
        ))}
      </div>
    </Section>
  );
}
