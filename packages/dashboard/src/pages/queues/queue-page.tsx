import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useAct, useAsk } from '../../api/ask.ts';
import type { ReplyOf } from '../../api/operation-types.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { useShortcuts } from '../../parts/keyboard.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Properties, Page } from '../../parts/page.tsx';
import { runColumnsOf } from '../../parts/runs/run-columns.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time/time.tsx';
import { KeyTable } from './key-table.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { Load } from './load.tsx';
import { outdated, PauseButton, usePause } from './pause-button.tsx';
import { fullName, referenceOf } from '../../parts/queue-name.ts';
import { RateLimitCell } from './rate-limit-cell.tsx';
import { QueuePlots } from './queue-plots.tsx';
import { queueBadge } from './queue-state.ts';
import { WhyWaiting } from './why-waiting.tsx';
import './queues.css';

type QueueDetail = ReplyOf<'retrieveQueue'>;

const maxKeys = 100;
const live = runColumnsOf('task', 'id', 'created', 'version', 'tags', 'key');
const all = runColumnsOf('status', 'task', 'id', 'created', 'duration', 'version', 'tags');

/** One queue: its executing and waiting runs, the reasons, and its limits. */
export function QueuePage() {
  const { queueId = '' } = useParams({ strict: false }) as { queueId?: string };
  const { queue, type } = referenceOf(queueId);
  const found = useAsk(
    'retrieveQueue',
    { params: { queue }, query: { type, keys: maxKeys } },
    { live: true, keepPrevious: false },
  );
  if (found.data) return <OneQueue queue={found.data} />;
  return (
    <Page title="Queue">
      {found.error instanceof ApiError && found.error.status === 404 ? (
        <Empty
          title="Queue not found in this environment."
          action={<PageLink to="/queues">All queues</PageLink>}
        >
          A queue exists once a version declares it or a run is triggered into it.
        </Empty>
      ) : found.error ? (
        <Failure error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Skeleton lines={8} label="Loading the queue" />
      )}
    </Page>
  );
}

function OneQueue({ queue }: { readonly queue: QueueDetail }) {
  const [{ view = '' }, setSearch] = useSearchTexts();
  const [isLimiting, setLimiting] = useState(false);
  const may = useMay();
  const { toggle } = usePause(queue);
  const name = fullName(queue);
  const options = { invalidates: outdated, showsErrors: true, onDone: () => setLimiting(false) };
  const override = useAct('overrideQueueConcurrency', { ...options, done: 'Queue limit changed' });
  const reset = useAct('resetQueueConcurrency', { ...options, done: 'Limit reset to the code' });
  useShortcuts(
    may('pauseQueue')
      ? [{ keys: 'p', label: queue.paused ? 'Resume the queue' : 'Pause the queue', run: toggle }]
      : [],
  );
  const { base, overriddenAt, override: overridden } = queue.concurrency;
  const inQueue = { 'filter[queue]': name, 'filter[createdAt][period]': '30d' };

  return (
    <Page
      title={`${name} · Queue`}
      heading={visibleControls(queue.name)}
      summary={queue.type === 'task' ? 'Default queue of a task' : 'Shared queue'}
      actions={
        <>
          {may('pauseQueue') && <PauseButton queue={queue} />}
          {may('overrideQueueConcurrency') && (
            <Button onClick={() => setLimiting(true)}>Change the limit</Button>
          )}
          <CodeExample
            operation="pauseQueue"
            input={{
              params: { queue: queue.id },
              body: { type: 'id', action: queue.paused ? 'resume' : 'pause' },
            }}
            cli={`queues ${queue.paused ? 'resume' : 'pause'} ${shellWord(name)}`}
            sdk={`import { queues } from '@millrace/sdk';\n\nawait queues.${queue.paused ? 'resume' : 'pause'}(${JSON.stringify({ type: queue.type, name: queue.name })});`}
          />
        </>
      }
    >
      <Properties
        properties={[
          ['State', <Mark badge={queueBadge(queue)} />],
          ['Running', <Load running={queue.running} limit={queue.concurrencyLimit} />],
          ['Waiting for a slot', <span className="number">{queue.queued.toLocaleString('en')}</span>],
          [
            'Limit in the code',
            <span className="number">{base === null ? 'none' : base.toLocaleString('en')}</span>,
          ],
          overridden === null
            ? undefined
            : [
                'Limit set here',
                <span className="number">
                  {overridden.toLocaleString('en')}
                  {overriddenAt !== null && (
                    <span className="muted">
                      {' '}
                      <Time at={overriddenAt} />
                    </span>
                  )}
                </span>,
              ],
          queue.rateLimit.current === null && !queue.rateLimit.isOverridden
            ? undefined
            : ['Rate limit', <RateLimitCell rateLimit={queue.rateLimit} />],
          queue.type === 'task'
            ? [
                'Task',
                <PageLink to={`/tasks/${encodeURIComponent(queue.name)}`}>
                  {visibleControls(queue.name)}
                </PageLink>,
              ]
            : undefined,
          ['Id', <Id id={queue.id} />],
        ]}
      />
      <WhyWaiting queue={queue} />
      <QueuePlots name={name} />
      <Tabs
        label="About the queue"
        selected={view}
        onSelect={(id) => setSearch({ view: id, panel: undefined })}
        tabs={[
          {
            id: 'waiting',
            label: 'Waiting',
            count: queue.queued,
            content: (
              <div className="edge">
                <RunList
                  columns={live}
                  query={{ ...inQueue, 'filter[status]': 'QUEUED' }}
                  empty={
                    <Empty title="No runs wait in this queue.">
                      Runs that wait for a time, a version or a person are listed under all runs.
                    </Empty>
                  }
                />
              </div>
            ),
          },
          {
            id: 'running',
            label: 'Running',
            count: queue.running,
            content: (
              <div className="edge">
                <RunList
                  columns={live}
                  query={{ ...inQueue, 'filter[status]': 'EXECUTING,DEQUEUED' }}
                  empty={<Empty title="No runs of this queue are executing." />}
                />
              </div>
            ),
          },
          {
            id: 'keys',
            label: 'Keys',
            count:
              queue.keys?.length === maxKeys
                ? `${maxKeys}+`
                : queue.keys?.filter(({ key }) => key !== null).length,
            content: (
              <KeyTable
                keys={queue.keys ?? []}
                limit={queue.concurrencyLimit}
                isCut={queue.keys?.length === maxKeys}
              />
            ),
          },
          {
            id: 'all',
            label: 'All runs',
            content: (
              <div className="edge">
                <RunList
                  columns={all}
                  query={inQueue}
                  empty={
                    <Empty
                      title="This queue had no runs in the last 30 days."
                      command={
                        queue.type === 'task'
                          ? `npx millrace trigger ${shellWord(queue.name)} --payload '{}'`
                          : `npx millrace trigger <task> --queue ${shellWord(queue.name)}`
                      }
                    />
                  }
                />
              </div>
            ),
          },
        ]}
      />
      <LimitDialog
        isOpen={isLimiting}
        onClose={() => {
          setLimiting(false);
          override.reset();
        }}
        title={`Limit of ${visibleControls(queue.name)}`}
        hint="Maximum number of concurrent runs for each concurrency key. It overrides the code in all versions until it is reset."
        limit={queue.concurrencyLimit}
        waiting={queue.queued}
        isBusy={override.isPending || reset.isPending}
        error={(override.error ?? reset.error)?.message}
        onSubmit={(concurrencyLimit) =>
          override.mutate({ params: { queue: queue.id }, body: { type: 'id', concurrencyLimit } })
        }
        reset={
          overridden === null
            ? undefined
            : {
                label: base === null ? 'No limit, as in the code' : `${base}, as in the code`,
                onReset: () => reset.mutate({ params: { queue: queue.id }, body: { type: 'id' } }),
              }
        }
      />
    </Page>
  );
}
