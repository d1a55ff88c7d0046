import type { EventResponse } from '@millrace/contract';
import { useParams } from '@tanstack/react-router';
import { useAct, useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { runStatusBadges } from '../../parts/status/run-status.ts';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { toast } from '../../api/toasts.ts';
import { eventBadges } from './badges.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import './events.css';

type EventRun = EventResponse['runs'][number];

const unknownRun = { word: 'Unknown', glyph: 'dotted', tone: 'quiet' } as const;

const columns: readonly Column<EventRun>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 140px)',
    isEssential: true,
    cell: ({ status }) => (
      <Mark badge={runStatusBadges[status as keyof typeof runStatusBadges] ?? unknownRun} />
    ),
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(110px, 1fr)',
    isEssential: true,
    cell: ({ taskIdentifier }) => <span className="cut">{visibleControls(taskIdentifier)}</span>,
  },
  {
    id: 'id',
    header: 'Run',
    width: 'minmax(120px, 1fr)',
    isEssential: true,
    cell: ({ id }) => (
      <Id id={id} short>
        <PageLink to={`/runs/${id}`}>{shortId(id)}</PageLink>
      </Id>
    ),
  },
];

/** One event: its payload, and the runs that it triggered. */
export function EventPage() {
  const { eventId = '' } = useParams({ strict: false }) as { readonly eventId?: string };
  const query = useAsk('retrieveEvent', { params: { eventId } }, { live: 2_000, keepPrevious: false });
  if (query.data) return <Loaded event={query.data} />;
  return (
    <Page title="Event">
      {query.error ? (
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function Loaded({ event }: { readonly event: EventResponse }) {
  const may = useMay();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const params = { eventId: event.id };
  const invalidates = ['listEvents', 'retrieveEvent', 'listRuns', 'countRuns'] as const;
  const replay = useAct('replayEvent', {
    invalidates,
    onDone: (sent) => {
      toast({ title: `Sent again. ${countText(sent.runs.length, 'run')} started.` });
      goTo(`/events/${encodeURIComponent(sent.id)}`);
    },
  });
  const cancel = useAct('cancelEvent', { invalidates, done: 'Delivery canceled' });
  const { payload, name: _, ...rest } = event.event;
  const isWaiting = event.status === 'PENDING';
  return (
    <Page
      title={event.name ?? 'Unnamed event'}
      summary={
        <span className="row wrap">
          <Mark badge={eventBadges[event.status]} />
          <Id id={event.id} />
        </span>
      }
      actions={
        <>
          {isWaiting && may('cancelEvent') && (
            <Button
              icon="cancel"
              variant="danger"
              isBusy={cancel.isPending}
              onClick={() => cancel.mutate({ params })}
            >
              Cancel delivery
            </Button>
          )}
          {may('replayEvent') && (
            <Button icon="replay" isBusy={replay.isPending} onClick={() => replay.mutate({ params })}>
              Send again
            </Button>
          )}
          <CodeExample
            operation="retrieveEvent"
            input={{ params }}
            cli={`events show ${shellWord(event.id)}`}
            sdk={`import { events } from '@millrace/sdk';\n\nconst event = await events.retrieve(${JSON.stringify(event.id)});`}
          />
        </>
      }
    >
      {event.failure !== undefined && (
        <div className="notice tone-bad" role="alert">
          <span>
            <span className="strong">It could not be delivered.</span> {event.failure} Send it again to retry.
          </span>
        </div>
      )}
      <Properties
        properties={[
          ['Sent', <Time key="sent" at={event.createdAt} />],
          ['Due', event.deliverAt === null ? undefined : <Time key="due" at={event.deliverAt} />],
          [
            'Delivered',
            event.deliveredAt === null ? undefined : <Time key="delivered" at={event.deliveredAt} />,
          ],
          ['Canceled', event.canceledAt === null ? undefined : <Time key="canceled" at={event.canceledAt} />],
          [
            'Replay of',
            event.replayOf === null ? undefined : (
              <PageLink key="replay" to={`/events/${encodeURIComponent(event.replayOf)}`} className="mono">
                {event.replayOf}
              </PageLink>
            ),
          ],
        ]}
      />
      <Section
        title={`Triggered runs${event.runs.length > 0 ? `: ${event.runs.length.toLocaleString('en')}` : ''}`}
      >
        <div className="edge">
          <Table
            label="Runs of the event"
            columns={columns}
            rows={event.runs}
            rowKey={({ id }) => id}
            hrefOf={({ id }) => pageHref(`/runs/${id}`)}
            onOpen={({ id }) => goTo(`/runs/${id}`)}
            empty={
              <Empty
                title={
                  isWaiting
                    ? 'It triggers runs at its due time.'
                    : event.status === 'CANCELED'
                      ? 'It was canceled before its due time.'
                      : 'None of its runs are stored.'
                }
              >
                {event.status === 'UNMATCHED' && (
                  <>
                    No task was subscribed to it.{' '}
                    <PageLink to="/events" search={{ view: 'subscriptions' }}>
                      Show the subscriptions
                    </PageLink>
                  </>
                )}
              </Empty>
            }
          />
        </div>
      </Section>
      <Section title="Payload">
        {payload === undefined ? (
          <p className="muted">No payload.</p>
        ) : (
          <JsonTree value={payload} label="Payload" />
        )}
      </Section>
      {Object.keys(rest).length > 0 && (
        <Section title="Full event">
          <JsonTree value={rest} label="Event" />
        </Section>
      )}
    </Page>
  );
}
