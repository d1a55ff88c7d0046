import { useAsk } from '../../api/ask.ts';
import { UsageTable } from '../../parts/models/usage-table.tsx';
import { Section } from '../../parts/page.tsx';

/** The language models that a run called. Nothing for a run without such calls. */
export function RunModels({ runId, isLive }: { readonly runId: string; readonly isLive: boolean }) {
  const usage = useAsk(
    'retrieveRunModels',
    { params: { runId } },
    { live: isLive && 10_000, keepPrevious: false },
  );
  if (!usage.data || usage.data.total.calls === 0) return null;
  return (
    <Section title="Language models">
      <UsageTable label="Language models" {...usage.data} />
    </Section>
  );
}
