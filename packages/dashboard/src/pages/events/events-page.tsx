import type { ListedEvent } from '@millrace/contract';
import { useMemo } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button, CellButton } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter/filter-field.tsx';
import { useWordFilter } from '../../parts/filter/use-word-filter.ts';
import type { WordKey } from '../../parts/filter/word-query.ts';
import { useShortcuts } from '../../parts/keyboard.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { eventBadges } from './badges.ts';
import { SendDialog } from './send-dialog.tsx';
import { Subscriptions } from './subscriptions.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import './events.css';

const wordKeys: Readonly<Record<string, WordKey>> = {
  name: { parameter: 'filter[name]' },
  status: {
    parameter: 'filter[status]',
    words: {
      pending: 'PENDING',
      delivered: 'DELIVERED',
      unmatched: 'UNMATCHED',
      canceled: 'CANCELED',
      failed: 'FAILED',
    },
  },
  from: { parameter: 'filter[from]', kind: 'time' },
  to: { parameter: 'filter[to]', kind: 'time' },
};

const idOf = ({ id }: ListedEvent): string => id;
const pathOf = (id: string): string => `/events/${encodeURIComponent(id)}`;

const columnsOf = (onName: (name: string) => void): readonly Column<ListedEvent>[] => [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 160px)',
    isEssential: true,
    cell: ({ status }) => <Mark badge={eventBadges[status]} />,
  },
  {
    id: 'name',
    header: 'Event',
    width: 'minmax(110px, 1.4fr)',
    isEssential: true,
    cell: ({ name }) =>
      name === null ? (
        <span className="muted">no name</span>
      ) : (
        <CellButton className="event-name" tip={`Only ${name}`} onClick={() => onName(name)}>
          {visibleControls(name)}
        </CellButton>
      ),
  },
  {
    id: 'id',
    header: 'Id',
    width: 'minmax(110px, 1.2fr)',
    cell: ({ id }) => (
      <PageLink to={pathOf(id)} className="mono cut">
        {id}
      </PageLink>
    ),
  },
  {
    id: 'runs',
    header: 'Runs',
    width: '64px',
    align: 'end',
    isEssential: true,
    cell: ({ runCount }) =>
      runCount === 0 ? <span className="muted">0</span> : runCount.toLocaleString('en'),
  },
  {
    id: 'sent',
    header: 'Sent',
    width: '96px',
    isEssential: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'due',
    header: 'Due',
    width: '96px',
    cell: ({ deliverAt }) =>
      deliverAt === null ? <span className="muted">–</span> : <Time at={deliverAt} />,
  },
  {
    id: 'note',
    header: 'Note',
    width: 'minmax(90px, 1.4fr)',
    cell: ({ failure, replayOf }) => (
      <span className={`cut ${failure === undefined ? 'muted' : 'tone-bad'}`} title={failure}>
        {failure ?? (replayOf === null ? '' : `replay of ${replayOf}`)}
      </span>
    ),
  },
];

/** Events and the runs they triggered. */
export function EventsPage() {
  const [{ view, send }, setSearch] = useSearchTexts();
  const may = useMay();
  const goTo = useGoTo();
  const isSubscriptions = view === 'subscriptions';
  const maySend = may('sendEvent');
  const openSend = (name = '') => setSearch({ send: name || 'event' }, { push: true });
  useShortcuts(maySend ? [{ keys: 'n', label: 'Send an event', run: () => openSend() }] : []);
  return (
    <Page
      title="Events"
      summary="Each event triggers a run of every subscribed task."
      actions={
        maySend && (
          <Button variant="main" icon="events" shortcut="n" onClick={() => openSend()}>
            Send an event
          </Button>
        )
      }
    >
      <PageTabs
        label="Events"
        tabs={[
          { label: 'Events', to: '/events', isCurrent: !isSubscriptions },
          {
            label: 'Subscriptions',
            to: '/events',
            search: { view: 'subscriptions' },
            isCurrent: isSubscriptions,
          },
        ]}
      />
      {isSubscriptions ? <Subscriptions onSend={maySend ? openSend : undefined} /> : <EventList />}
      {send !== undefined && maySend && (
        <SendDialog
          name={send === 'event' ? '' : send}
          onClose={() => setSearch({ send: undefined })}
          onSent={(id) => goTo(pathOf(id))}
        />
      )}
    </Page>
  );
}

function EventList() {
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const filter = useWordFilter(wordKeys);
  const tasks = useAsk('listTasks', {});
  const input = { query: { ...filter.query, 'page[size]': 50 } };
  const list = useLiveList('listEvents', input, idOf);
  const columns = columnsOf((name) => filter.add('name', name));
  const filterKeys = useMemo(() => {
    const names = [...new Set((tasks.data?.data ?? []).flatMap(({ on }) => (on ? [on.name] : [])))];
    return [
      { key: 'name', about: 'event name', values: () => names },
      {
        key: 'status',
        about: 'delivery status',
        values: () => Object.keys(wordKeys['status']?.words ?? {}),
      },
      { key: 'from', about: 'sent at or after a time: 2026-11-21T10:00' },
      { key: 'to', about: 'sent before a time' },
    ];
  }, [tasks.data]);
  const name = filter.query['filter[name]'];
  const status = filter.query['filter[status]'];
  return (
    <>
      <div className="list-tools">
        <FilterField
          value={filter.text}
          onChange={filter.set}
          keys={filterKeys}
          error={filter.error}
          placeholder="Filter, such as name:order.created status:unmatched"
        />
        <CodeExample
          operation="listEvents"
          input={input}
          cli={`events list${name === undefined ? '' : ` --name ${shellWord(name)}`}${status === undefined || status.includes(',') ? '' : ` --status ${status}`}`}
          sdk={
            "import { events } from '@millrace/sdk';\n\nfor await (const event of events.list()) {\n  console.log(event.name, event.status, event.runCount);\n}"
          }
        />
      </div>
      <LiveTable
        list={list}
        noun="event"
        label="Events"
        columns={columns}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(pathOf(id))}
        onOpen={({ id }) => goTo(pathOf(id))}
        empty={
          filter.text === '' ? (
            <Empty
              title="No events yet."
              command={`npx millrace events send order.created --payload '{"id":1}'`}
            >
              Send one from your code, with the command, or with the button above.
            </Empty>
          ) : (
            <Empty
              title="No events match this filter."
              action={<Button onClick={() => filter.set('')}>Clear the filter</Button>}
            />
          )
        }
      />
    </>
  );
}
