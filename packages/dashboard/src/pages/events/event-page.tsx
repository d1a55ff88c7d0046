import type { ShownEvent } from '@millrace/contract';
import { useParams } from '@tanstack/react-router';
import { useAct, useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { SameAs, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { runStatusLooks } from '../../parts/status/run-status.ts';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { toast } from '../../api/toasts.ts';
import { eventLooks } from './looks.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import './events.css';

type EventRun = ShownEvent['runs'][number];

const unknownRun = { word: 'Unknown', glyph: 'dotted', tone: 'quiet' } as const;

const columns: readonly Column<EventRun>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 140px)',
    isEssential: true,
    cell: ({ status }) => <Mark look={runStatusLooks[status as keyof typeof runStatusLooks] ?? unknownRun} />,
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
  const asked = useAsk('retrieveEvent', { params: { eventId } }, { live: 2_000, keepPrevious: false });
  if (asked.data) return <Loaded shown={asked.data} />;
  return (
    <Page title="Event">
      {asked.error ? (
        <Failure error={asked.error} onRetry={() => void asked.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function Loaded({ shown }: { readonly shown: ShownEvent }) {
  const may = useMay();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const params = { eventId: shown.id };
  const outdates = ['listEvents', 'retrieveEvent', 'listRuns', 'countRuns'] as const;
  const replay = useAct('replayEvent', {
    outdates,
    onDone: (sent) => {
      toast({ title: `Sent again. ${countText(sent.runs.length, 'run')} started.` });
      goTo(`/events/${encodeURIComponent(sent.id)}`);
    },
  });
  const cancel = useAct('cancelEvent', { outdates, done: 'The event will not be delivered' });
  const { payload, name: _, ...rest } = shown.event;
  const isWaiting = shown.status === 'PENDING';
  return (
    <Page
      title={shown.name ?? 'Event without a name'}
      summary={
        <span className="row wrap">
          <Mark look={eventLooks[shown.status]} />
          <Id id={shown.id} />
        </span>
      }
      actions={
        <>
          {isWaiting && may('cancelEvent') && (
            <Button
              icon="cancel"
              look="danger"
              isBusy={cancel.isPending}
              onClick={() => cancel.mutate({ params })}
            >
              Do not deliver
            </Button>
          )}
          {may('replayEvent') && (
            <Button icon="replay" isBusy={replay.isPending} onClick={() => replay.mutate({ params })}>
              Send again
            </Button>
          )}
          <SameAs
            operation="retrieveEvent"
            given={{ params }}
            cli={`events show ${shellWord(shown.id)}`}
            sdk={`import { events } from '@millrace/sdk';\n\nconst event = await events.retrieve(${JSON.stringify(shown.id)});`}
          />
        </>
      }
    >
      {shown.failure !== undefined && (
        <div className="notice tone-bad" role="alert">
          <span>
            <span className="strong">It could not be delivered.</span> {shown.failure} Sending it again tries
            once more.
          </span>
        </div>
      )}
      <Facts
        facts={[
          ['Sent', <Time key="sent" at={shown.createdAt} />],
          ['Due', shown.deliverAt === null ? undefined : <Time key="due" at={shown.deliverAt} />],
          [
            'Delivered',
            shown.deliveredAt === null ? undefined : <Time key="delivered" at={shown.deliveredAt} />,
          ],
          ['Canceled', shown.canceledAt === null ? undefined : <Time key="canceled" at={shown.canceledAt} />],
          [
            'Replay of',
            shown.replayOf === null ? undefined : (
              <PageLink key="replay" to={`/events/${encodeURIComponent(shown.replayOf)}`} className="mono">
                {shown.replayOf}
              </PageLink>
            ),
          ],
        ]}
      />
      <Section
        title={`What it started${shown.runs.length > 0 ? `: ${countText(shown.runs.length, 'run')}` : ''}`}
      >
        <div className="edge">
          <Table
            label="Runs of the event"
            columns={columns}
            rows={shown.runs}
            rowKey={({ id }) => id}
            hrefOf={({ id }) => pageHref(`/runs/${id}`)}
            onOpen={({ id }) => goTo(`/runs/${id}`)}
            empty={
              <Empty
                title={
                  isWaiting
                    ? 'It starts runs when its time has come.'
                    : shown.status === 'CANCELED'
                      ? 'It was canceled before its time.'
                      : 'It started no run that is still stored.'
                }
              >
                {shown.status === 'UNMATCHED' && (
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
          <p className="muted">It has none.</p>
        ) : (
          <JsonTree value={payload} label="Payload" />
        )}
      </Section>
      {Object.keys(rest).length > 0 && (
        <Section title="Everything else that it said">
          <JsonTree value={rest} label="Event" />
        </Section>
      )}
    </Page>
  );
}
