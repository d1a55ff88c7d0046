import type { BulkAction } from '@millrace/contract';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { PortionBar } from '../../parts/progress.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import type { Column } from '../../parts/table/column.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import { bulkBadges, doneOf, portionsOf, verbs } from './badges.ts';
import { StopButton } from './stop-button.tsx';
import './bulk.css';

const idOf = ({ id }: BulkAction): string => id;

const columns: readonly Column<BulkAction>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 120px)',
    isEssential: true,
    cell: ({ status }) => <Mark badge={bulkBadges[status]} />,
  },
  {
    id: 'what',
    header: 'Action',
    width: 'minmax(100px, 1.5fr)',
    isEssential: true,
    cell: ({ id, type, name, counts }) => (
      <>
        <PageLink to={`/bulk/${id}`} className="cut bulk-what">
          {verbs[type].now} {countText(counts.total, 'run')}
        </PageLink>
        <span className="muted small cut bulk-name">{name}</span>
      </>
    ),
  },
  {
    id: 'progress',
    header: 'Progress',
    width: 'minmax(80px, 1.5fr)',
    isEssential: true,
    cell: (action) => <PortionBar label="Runs" total={action.counts.total} portions={portionsOf(action)} />,
  },
  {
    id: 'done',
    header: 'Done',
    width: 'minmax(110px, 1.3fr)',
    cell: (action) => (
      <span className="number cut">
        {doneOf(action).toLocaleString('en')} of {action.counts.total.toLocaleString('en')}
        {action.counts.failure > 0 && (
          <span className="muted">, {action.counts.failure.toLocaleString('en')} could not be</span>
        )}
      </span>
    ),
  },
  {
    id: 'id',
    header: 'Bulk action',
    width: 'minmax(110px, 150px)',
    cell: ({ id }) => (
      <Id id={id} short>
        {shortId(id)}
      </Id>
    ),
  },
  { id: 'created', header: 'Started', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'took',
    header: 'Took',
    width: '88px',
    align: 'end',
    cell: ({ createdAt, completedAt }) =>
      completedAt === undefined ? (
        <Duration since={createdAt} />
      ) : (
        <Duration ms={Date.parse(completedAt) - Date.parse(createdAt)} />
      ),
  },
  { id: 'stop', header: '', width: '84px', align: 'end', cell: (action) => <StopButton action={action} /> },
];

/** Past and current actions on many runs. */
export function BulkPage() {
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const input = { query: { 'page[size]': 50 } };
  const list = useLiveList('listBulkActions', input, idOf, { live: 2_000 });
  return (
    <Page
      title="Bulk actions"
      summary="Runs canceled or replayed together."
      actions={
        <CodeExample
          operation="listBulkActions"
          input={input}
          cli="runs bulk list"
          sdk={
            "import { runs } from '@millrace/sdk';\n\nfor await (const { id, counts } of runs.bulk.list()) {\n  console.log(id, counts);\n}"
          }
        />
      }
    >
      <PageTabs
        label="Many runs"
        tabs={[
          { label: 'Batches', to: '/batches', isCurrent: false },
          { label: 'Bulk actions', to: '/bulk', isCurrent: true },
        ]}
      />
      <LiveTable
        list={list}
        noun="action"
        label="Bulk actions"
        columns={columns}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(`/bulk/${id}`)}
        onOpen={({ id }) => goTo(`/bulk/${id}`)}
        empty={
          <Empty
            title="No bulk actions yet."
            command="npx millrace runs cancel --task <task> --status QUEUED"
          >
            Select runs in <PageLink to="/runs">the list of runs</PageLink>, or all that match a filter, and
            cancel or replay them together.
          </Empty>
        }
      />
    </Page>
  );
}
