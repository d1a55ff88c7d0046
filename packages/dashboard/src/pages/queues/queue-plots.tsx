import { readableDuration } from '@millrace/contract/plain';
import { useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import { useSearchTexts } from '../../parts/search.ts';

const ranges = ['1h', '6h', '1d', '7d'];

/** How much waited, how long, and what ended, over a range that the address has. */
export function QueuePlots({ name }: { readonly name: string }) {
  const [{ range = '6h' }, setSearch] = useSearchTexts();
  const stats = useAsk('retrieveStats', { query: { queue: name, period: range } }, { live: 30_000 });
  const points = stats.data?.series[0]?.points ?? [];
  const times = points.map(({ at }) => Date.parse(at));
  const failed = points.map((one) => one.failed + one.crashed + one.systemFailure + one.timedOut);
  return (
    <Section
      title="Over time"
      actions={
        <div className="segments" role="group" aria-label="Time">
          {ranges.map((one) => (
            <Button
              key={one}
              look="plain"
              aria-pressed={one === range}
              onClick={() => setSearch({ range: one === '6h' ? undefined : one })}
            >
              {one}
            </Button>
          ))}
        </div>
      }
    >
      <div className="queue-plots">
        <div className="card plot-card">
          <h3>Waiting</h3>
          <Plot
            label="Most runs that waited"
            times={times}
            series={[
              {
                name: 'Waiting',
                color: '--held',
                kind: 'area',
                values: points.map(({ waiting }) => waiting),
              },
            ]}
          />
        </div>
        <div className="card plot-card">
          <h3>Time in the queue, p95</h3>
          <Plot
            label="Time in the queue, p95"
            times={times}
            series={[
              { name: 'p95', color: '--busy', kind: 'line', values: points.map(({ wait }) => wait.p95) },
            ]}
            format={readableDuration}
          />
        </div>
        <div className="card plot-card">
          <h3>Ended</h3>
          <Plot
            label="Runs that ended"
            times={times}
            isStacked
            series={[
              { name: 'Completed', color: '--good', values: points.map(({ completed }) => completed) },
              { name: 'Failed', color: '--bad', values: failed },
              {
                name: 'Canceled or expired',
                color: '--quiet',
                values: points.map(({ canceled, expired }) => canceled + expired),
              },
            ]}
          />
        </div>
      </div>
    </Section>
  );
}
