import { lazy, Suspense } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { PageLink } from '../page-link.tsx';
import { Section } from '../page.tsx';

/** Loaded only if there are pinned charts. */
const ChartCard = lazy(async () => ({ default: (await import('./chart-card.tsx')).ChartCard }));

/** The charts that members pinned, for everybody. Nothing if there are none. */
export function PinnedCharts() {
  const params = useEnvironmentPath();
  const charts = useAsk('listCharts', { params }, { live: 60_000 });
  const pinned = charts.data?.data.filter(({ isPinned }) => isPinned) ?? [];
  if (pinned.length === 0) return null;
  return (
    <Section title="Pinned charts" actions={<PageLink to="/charts">All charts</PageLink>}>
      <div className="chart-cards">
        {pinned.map((chart) => (
          <Suspense key={chart.id}>
            <ChartCard name={chart.name} chart={chart} />
          </Suspense>
        ))}
      </div>
    </Section>
  );
}
