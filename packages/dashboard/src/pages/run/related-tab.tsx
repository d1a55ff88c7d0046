import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { usePages } from '../../api/ask.ts';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Status } from '../../parts/status/status.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import type { RunDetail } from './use-run.ts';

interface RelatedRun {
  readonly id: string;
  readonly task: string;
  readonly status: RunDetail['status'];
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
}

type Related = NonNullable<RunDetail['relatedRuns']['parent']>;

const relatedRun = ({ id, taskIdentifier, status, createdAt, finishedAt }: Related): RelatedRun => ({
  id,
  task: taskIdentifier,
  status,
  startedAt: createdAt,
  endedAt: finishedAt,
});

/** The origin of the run, and the runs that it triggered. */
export function RelatedTab({ run }: { readonly run: RunDetail }) {
  const { root, parent, children } = run.relatedRuns;
  const above = [root, parent].filter(
    (candidate, index, all) =>
      candidate !== undefined &&
      candidate.id !== run.id &&
      all.findIndex((other) => other?.id === candidate.id) === index,
  ) as Related[];
  return (
    <div className="stack">
      {above.length > 0 && (
        <Section title="Started by">
          <RunRows label="Runs above it" runs={above.map(relatedRun)} />
        </Section>
      )}
      <Section title="Triggered runs">
        {children && children.length > 0 ? <Children run={run} /> : <p className="muted">None.</p>}
      </Section>
    </div>
  );
}

/** All children in the order in which they were triggered: the run itself lists only the first hundred. */
function Children({ run }: { readonly run: RunDetail }) {
  const { pages, error, hasMore, loadMore } = usePages(
    'retrieveRunTimeline',
    { params: { runId: run.id }, query: { depth: 1, logs: 0, 'page[size]': 500 } },
    { live: !run.isCompleted, keepPrevious: false },
  );
  const runs = useMemo(
    () =>
      pages.flatMap(({ entries }) =>
        entries.flatMap((entry) => (entry.kind === 'run' && entry.id !== run.id ? [entry] : [])),
      ),
    [pages, run.id],
  );
  if (pages.length === 0)
    return error ? <Failure error={error} /> : <Skeleton lines={4} label="Loading triggered runs" />;
  return <RunRows label="Runs below it" runs={runs} hasMore={hasMore} loadMore={loadMore} />;
}

interface RunRowsProps {
  readonly label: string;
  readonly runs: readonly RelatedRun[];
  readonly hasMore?: boolean;
  readonly loadMore?: () => void;
}

const rowHeight = 32;

/** A table of which only the visible rows are in the document. */
function RunRows({ label, runs, hasMore = false, loadMore }: RunRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const visible = virtualizer.getVirtualItems();
  const last = visible.at(-1);
  const lastIndex = last?.index ?? 0;
  useEffect(() => {
    if (hasMore && lastIndex >= runs.length - 20) loadMore?.();
  }, [hasMore, lastIndex, runs.length, loadMore]);
  const spacer = (height: number) => height > 0 && <tr style={{ blockSize: height }} aria-hidden="true" />;
  return (
    <>
      <div ref={scroller} className="card related-runs" tabIndex={0} role="region" aria-label={label}>
        <table className="plain-table" aria-rowcount={hasMore ? -1 : runs.length}>
          <tbody>
            {spacer(visible[0]?.start ?? 0)}
            {visible.map(({ index }) => {
              const { id, task, status, startedAt, endedAt } = runs[index] as RelatedRun;
              return (
                <tr key={id} aria-rowindex={index + 1}>
                  <td>
                    <Status status={status} />
                  </td>
                  <td className="strong">{visibleControls(task)}</td>
                  <td>
                    <Id id={id}>
                      <PageLink to={`/runs/${id}`}>{id}</PageLink>
                    </Id>
                  </td>
                  <td>
                    <Time at={startedAt} />
                  </td>
                  <td className="is-end">
                    {endedAt === undefined ? (
                      <Duration since={startedAt} />
                    ) : (
                      <Duration ms={Date.parse(endedAt) - Date.parse(startedAt)} />
                    )}
                  </td>
                </tr>
              );
            })}
            {spacer(virtualizer.getTotalSize() - (last?.end ?? 0))}
          </tbody>
        </table>
      </div>
      {hasMore && (
        <p className="muted small" role="status">
          {runs.length.toLocaleString('en')} runs are loaded. Scroll to the end of the list for more.
        </p>
      )}
    </>
  );
}
