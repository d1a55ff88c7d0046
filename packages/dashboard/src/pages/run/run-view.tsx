import { quotedValue } from '@millrace/contract/filter';
import { readableDuration } from '@millrace/contract/plain';
import { useMemo, type ReactNode } from 'react';
import { usePages } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Id } from '../../parts/id.tsx';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Properties } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Status } from '../../parts/status/status.tsx';
import { Tabs, type Tab } from '../../parts/tabs.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Skeleton } from '../../parts/failure.tsx';
import { AttemptsTab } from './attempts-tab.tsx';
import { Data, RunData } from '../../parts/runs/run-data.tsx';
import { ErrorTab } from './error-tab.tsx';
import { LogsTab } from './logs/logs-tab.tsx';
import { Reason } from './reason.tsx';
import { RunModels } from './run-models.tsx';
import { RelatedTab } from './related-tab.tsx';
import { entriesOfPages } from './timeline/pages.ts';
import { Waterfall } from './timeline/waterfall.tsx';
import type { RunDetail } from './use-run.ts';
import '../../parts/runs/runs.css';
import './run.css';

/** The origin of the run. */
function origin(run: RunDetail): readonly [string, ReactNode] {
  const { parent } = run.relatedRuns;
  if (run.schedule)
    return [
      'Started by',
      <PageLink to={`/schedules/${run.schedule.id}`}>schedule {run.schedule.generator.description}</PageLink>,
    ];
  if (run.event)
    return [
      'Started by',
      <PageLink to={`/events/${run.event.id}`}>event {visibleControls(run.event.name)}</PageLink>,
    ];
  if (parent && parent.id !== run.id)
    return [
      'Started by',
      <PageLink to={`/runs/${parent.id}`}>run of {visibleControls(parent.taskIdentifier)}</PageLink>,
    ];
  if (run.replayOf !== undefined)
    return ['Started by', <PageLink to={`/runs/${run.replayOf}`}>a replay of another run</PageLink>];
  return ['Started by', run.isTest ? 'a test' : 'a trigger'];
}

/** The main properties of a run. */
export const RunProperties = ({ run }: { readonly run: RunDetail }) => (
  <Properties
    properties={[
      ['Status', <Status status={run.status} />],
      ['Run', <Id id={run.id} />],
      ['Created', <Time at={run.createdAt} />],
      run.startedAt === undefined
        ? undefined
        : [
            'Queued for',
            <span className="number">
              {readableDuration(Date.parse(run.startedAt) - Date.parse(run.createdAt))}
            </span>,
          ],
      run.isExecuting && run.startedAt !== undefined
        ? ['Running for', <Duration since={run.startedAt} />]
        : run.isCompleted || run.durationMs > 0
          ? ['Duration', <Duration ms={run.durationMs} />]
          : undefined,
      ['Attempts', <span className="number">{run.attemptCount}</span>],
      [
        'Queue',
        <PageLink to={`/queues/${encodeURIComponent(run.queue)}`}>{visibleControls(run.queue)}</PageLink>,
      ],
      run.version === undefined ? undefined : ['Version', <VersionOf version={run.version} />],
      origin(run),
      run.batchId === undefined
        ? undefined
        : ['Batch', <PageLink to={`/batches/${run.batchId}`}>{run.batchId}</PageLink>],
      run.delayedUntil !== undefined && !run.isCompleted && run.startedAt === undefined
        ? ['Delayed until', <Time at={run.delayedUntil} />]
        : undefined,
      run.idempotencyKey === undefined ? undefined : ['Idempotency key', <Id id={run.idempotencyKey} />],
      run.tags.length === 0
        ? undefined
        : [
            'Tags',
            <span className="tags run-tags">
              {run.tags.map((tag) => (
                <PageLink key={tag} className="tag" to="/runs" search={{ q: `tag:${quotedValue(tag)}` }}>
                  {visibleControls(tag)}
                </PageLink>
              ))}
            </span>,
          ],
    ]}
  />
);

const VersionOf = ({ version }: { readonly version: string }) => (
  <span className="row wrap">
    <PageLink to={`/versions/${encodeURIComponent(version)}`} className="mono">
      {version}
    </PageLink>
    <PageLink to={`/versions/${encodeURIComponent(version)}/compare`} className="small">
      Compare
    </PageLink>
  </span>
);

/** Everything about a run except its title: for its page, and for the side panel. */
export function RunView({ run }: { readonly run: RunDetail }) {
  const [{ tab = '' }, setSearch] = useSearchTexts();
  const isLive = !run.isCompleted;
  const tabs: readonly Tab[] = [
    ...(run.error
      ? [{ id: 'error', label: 'Error', content: <ErrorTab run={run} error={run.error} /> }]
      : []),
    { id: 'logs', label: 'Logs', content: <LogsTab runId={run.id} /> },
    {
      id: 'payload',
      label: 'Payload',
      content: (
        <RunData
          label="Payload"
          value={run.payload}
          url={run.payloadPresignedUrl}
          none="The run was triggered without a payload"
        />
      ),
    },
    {
      id: 'output',
      label: 'Output',
      content: (
        <RunData
          label="Output"
          value={run.output}
          url={run.outputPresignedUrl}
          none={run.isSuccess ? 'The task returned nothing' : 'A run has an output once it has completed'}
        />
      ),
    },
    {
      id: 'attempts',
      label: 'Attempts',
      count: run.attemptCount,
      content: <AttemptsTab runId={run.id} isLive={isLive} />,
    },
    {
      id: 'metadata',
      label: 'Metadata',
      content:
        run.metadata && Object.keys(run.metadata).length > 0 ? (
          <Data label="Metadata" value={run.metadata} />
        ) : (
          <Empty title="No metadata">
            Set it in the code of the run: <code>metadata.set('progress', 0.5)</code>
          </Empty>
        ),
    },
    {
      id: 'related',
      label: 'Related',
      count: run.relatedRuns.children?.length === 100 ? '100+' : run.relatedRuns.children?.length,
      content: <RelatedTab run={run} />,
    },
    { id: 'raw', label: 'Raw', content: <JsonTree label="Run" value={run} depth={1} /> },
  ];
  return (
    <>
      <RunProperties run={run} />
      <Reason run={run} />
      <RunTimeline run={run} />
      <RunModels runId={run.id} isLive={isLive} />
      <Tabs
        label="About the run"
        tabs={tabs}
        selected={tab}
        onSelect={(id) => setSearch({ tab: id, level: undefined, find: undefined })}
      />
    </>
  );
}

/** Maximum number of runs on a page of a timeline. */
const pageSize = 500;

function RunTimeline({ run }: { readonly run: RunDetail }) {
  const { pages, error, hasMore, isLoadingMore, loadMore } = usePages(
    'retrieveRunTimeline',
    { params: { runId: run.id }, query: { 'page[size]': pageSize } },
    { live: run.isCompleted ? false : 3_000, keepPrevious: false },
  );
  const entries = useMemo(() => entriesOfPages(pages), [pages]);
  const last = pages.at(-1);
  if (!last) return error ? null : <Skeleton lines={5} label="Loading the timeline" />;
  const below = entries.reduce((count, { kind, id }) => count + (kind === 'run' && id !== run.id ? 1 : 0), 0);
  return (
    <div className="stack-small">
      <Waterfall entries={entries} now={Date.parse(last.at)} />
      {hasMore && (
        <div className="row wrap muted small">
          <span>
            The timeline shows the first {countText(below.toLocaleString('en'), 'run')} below this one. There
            are more.
          </span>
          <Button variant="plain" isBusy={isLoadingMore} onClick={loadMore}>
            Show {pageSize} more
          </Button>
          {error && <span className="tone-bad">{error.message}</span>}
        </div>
      )}
    </div>
  );
}
