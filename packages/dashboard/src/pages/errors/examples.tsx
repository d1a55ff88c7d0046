import { useAsk } from '../../api/ask.ts';
import { IconButton } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { shortId } from '../../parts/id-text.ts';
import { useShortcuts } from '../../parts/keyboard.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { ErrorView } from '../../parts/stack/stack.tsx';
import { Time } from '../../parts/time/time.tsx';
import type { ErrorDetail } from './error-detail.ts';

const examples = 20;

/** The errors of individual runs of the group: the latest, and earlier ones one by one. */
export function Examples({ group }: { readonly group: ErrorDetail }) {
  const [{ example }, setSearch] = useSearchTexts();
  const runs = useAsk('listRuns', {
    query: {
      'filter[error]': group.id,
      'filter[createdAt][period]': '365d',
      'page[size]': examples,
    },
  });
  const ids = runs.data?.data.map(({ id }) => id) ?? [];
  const id = example ?? ids[0];
  const at = id === undefined ? -1 : ids.indexOf(id);
  const run = useAsk('retrieveRun', { params: { runId: id ?? '' } }, { enabled: id !== undefined });
  const go = (by: number): void => {
    const next = ids[at + by];
    if (next !== undefined) setSearch({ example: at + by === 0 ? undefined : next });
  };
  useShortcuts([
    { keys: '[', label: 'Newer example', run: () => go(-1) },
    { keys: ']', label: 'Older example', run: () => go(1) },
  ]);

  if (runs.error && !runs.data) return <Failure error={runs.error} onRetry={() => void runs.refetch()} />;
  if (runs.data && id === undefined)
    return (
      <Section title="Where it was thrown">
        <Empty title="No runs of this error are stored.">The next failed run appears here.</Empty>
      </Section>
    );
  return (
    <Section
      title="Where it was thrown"
      actions={
        id !== undefined && (
          <>
            <span className="muted small number">
              {at === -1
                ? ''
                : `${at + 1} of ${runs.data?.pagination.next === undefined ? ids.length : `${ids.length}+`}, `}
              {run.data?.finishedAt !== undefined && <Time at={run.data.finishedAt} />}
            </span>
            <PageLink className="mono" to={`/runs/${id}`} search={{ tab: 'error' }}>
              {shortId(id)}
            </PageLink>
            <IconButton icon="left" label="Newer example, key [" disabled={at <= 0} onClick={() => go(-1)} />
            <IconButton
              icon="right"
              label="Older example, key ]"
              disabled={at === -1 || at >= ids.length - 1}
              onClick={() => go(1)}
            />
          </>
        )
      }
    >
      {run.error && !run.data ? (
        <Failure error={run.error} onRetry={() => void run.refetch()} />
      ) : run.data?.error ? (
        <ErrorView error={run.data.error} causes={run.data.error.causes} version={run.data.version} />
      ) : run.data ? (
        <Empty title="This run no longer has an error." />
      ) : (
        <Skeleton lines={6} label="Loading an example" />
      )}
    </Section>
  );
}
