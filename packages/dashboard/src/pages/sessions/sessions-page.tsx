import type { ListedSession } from '@millrace/contract';
import { Button, CellButton } from '../../parts/button.tsx';
import { CodeBlock, CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter/filter-field.tsx';
import { useWordFilter } from '../../parts/filter/use-word-filter.ts';
import type { WordKey } from '../../parts/filter/word-query.ts';
import { shortId } from '../../parts/id-text.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { badgeOfSession } from './badges.ts';
import './sessions.css';

const wordKeys: Readonly<Record<string, WordKey>> = {
  status: {
    parameter: 'filter[status]',
    words: { open: 'ACTIVE', closed: 'CLOSED', expired: 'EXPIRED' },
  },
  type: { parameter: 'filter[type]' },
  task: { parameter: 'filter[taskIdentifier]' },
  tag: { parameter: 'filter[tags]' },
  id: { parameter: 'filter[externalId]' },
  since: { parameter: 'filter[createdAt][period]', kind: 'period' },
};

const filterKeys = [
  {
    key: 'status',
    about: 'open, closed or expired',
    values: () => Object.keys(wordKeys['status']?.words ?? {}),
  },
  { key: 'type', about: 'label set by the client' },
  { key: 'task', about: 'id of the serving task' },
  { key: 'tag', about: 'a tag of the session' },
  { key: 'id', about: 'its external id' },
  { key: 'since', about: 'started in the last 2h, 7d …', values: () => ['1h', '1d', '7d', '30d'] },
];

const idOf = ({ id }: ListedSession): string => id;

const columnsOf = (onFilter: (key: string, value: string) => void): readonly Column<ListedSession>[] => [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 110px)',
    isEssential: true,
    cell: (session) => <Mark badge={badgeOfSession(session)} />,
  },
  {
    id: 'session',
    header: 'Session',
    width: 'minmax(84px, 1.5fr)',
    isEssential: true,
    cell: ({ id, externalId }) => (
      <PageLink to={`/sessions/${id}`} className="mono cut">
        {externalId ?? id}
      </PageLink>
    ),
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(72px, 1fr)',
    isEssential: true,
    cell: ({ taskIdentifier }) => (
      <CellButton
        className="session-filter"
        tip={`Only task:${taskIdentifier}`}
        onClick={() => onFilter('task', taskIdentifier)}
      >
        {taskIdentifier}
      </CellButton>
    ),
  },
  {
    id: 'type',
    header: 'Type',
    width: 'minmax(70px, 0.8fr)',
    cell: ({ type }) => <span className="cut muted">{type}</span>,
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(80px, 1fr)',
    cell: ({ tags }) => (
      <span className="row">
        {tags.map((tag) => (
          <CellButton
            key={tag}
            className="session-tag"
            tip={`Only tag:${tag}`}
            onClick={() => onFilter('tag', tag)}
          >
            {tag}
          </CellButton>
        ))}
      </span>
    ),
  },
  {
    id: 'run',
    header: 'Served by',
    width: 'minmax(100px, 130px)',
    cell: ({ currentRunId }) =>
      currentRunId === null ? (
        <span className="muted">–</span>
      ) : (
        <PageLink to={`/runs/${currentRunId}`} className="mono">
          {shortId(currentRunId)}
        </PageLink>
      ),
  },
  {
    id: 'started',
    header: 'Started',
    width: '96px',
    isEssential: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

const example = `const { publicAccessToken } = await sessions.start({
  type: 'chat',
  externalId: chatId,
  taskIdentifier: 'chat',
  triggerConfig: { basePayload: { userId } },
});`;

/** Conversations with tasks. */
export function SessionsPage() {
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const filter = useWordFilter(wordKeys);
  const input = { query: { ...filter.query, 'page[size]': 50 } };
  const list = useLiveList('listSessions', input, idOf);
  return (
    <Page
      title="Sessions"
      summary="Conversations with a task that outlive its runs."
      actions={
        <CodeExample
          operation="listSessions"
          input={input}
          cli={undefined}
          sdk={
            "import { sessions } from '@millrace/sdk';\n\nfor await (const { id, externalId } of sessions.list({ status: 'ACTIVE' })) {\n  console.log(id, externalId);\n}"
          }
        />
      }
    >
      <FilterField
        value={filter.text}
        onChange={filter.set}
        keys={filterKeys}
        error={filter.error}
        placeholder="Filter, such as status:open task:chat"
      />
      <LiveTable
        list={list}
        noun="session"
        label="Sessions"
        columns={columnsOf(filter.add)}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(`/sessions/${id}`)}
        onOpen={({ id }) => goTo(`/sessions/${id}`)}
        empty={
          filter.text === '' ? (
            <Empty title="No sessions yet." action={<CodeBlock text={example} />}>
              Your backend starts one, and passes its token to the browser:
            </Empty>
          ) : (
            <Empty
              title="No sessions match this filter."
              action={<Button onClick={() => filter.set('')}>Clear the filter</Button>}
            />
          )
        }
      />
    </Page>
  );
}
