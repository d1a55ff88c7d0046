import { useAsk } from '../../api/ask.ts';
import { dollarsText } from '../../parts/models/dollars.ts';
import { Cost } from '../../parts/models/usage-table.tsx';
import { Section } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot/plot.tsx';

/** The cost of language models by day. Nothing for a task that called none. */
export function TaskModels({ taskId }: { readonly taskId: string }) {
  const usage = useAsk(
    'retrieveModelUsage',
    { query: { task: taskId, period: '30d' } },
    { live: 60_000, keepPrevious: false },
  );
  if (!usage.data || usage.data.total.calls === 0) return null;
  const { days, total } = usage.data;
  return (
    <Section title="Language models, 30 days">
      <div className="card plot-card">
        <h3>
          Cost by day: <Cost usage={total} />
        </h3>
        <Plot
          label="Cost of language models by day"
          times={days.map(({ at }) => Date.parse(at))}
          format={(dollars) => dollarsText(String(dollars))}
          series={[
            { name: 'Cost', color: '--busy', kind: 'bars', values: days.map(({ cost }) => Number(cost)) },
          ]}
        />
      </div>
    </Section>
  );
}
