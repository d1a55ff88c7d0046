import type { ListedBatch } from '@millrace/contract';
import { CodeBlock, CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { PortionBar } from '../../parts/progress.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import { badgeOfBatch, portionsOf } from './badges.ts';

const idOf = ({ id }: ListedBatch): string => id;

const columns: readonly Column<ListedBatch>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 130px)',
    isEssential: true,
    cell: (batch) => <Mark badge={badgeOfBatch(batch)} />,
  },
  {
    id: 'id',
    header: 'Batch',
    width: 'minmax(110px, 160px)',
    isEssential: true,
    cell: ({ id }) => (
      <Id id={id} short>
        <PageLink to={`/batches/${id}`}>{shortId(id)}</PageLink>
      </Id>
    ),
  },
  {
    id: 'runs',
    header: 'Runs',
    width: '72px',
    align: 'end',
    cell: ({ runCount }) => runCount.toLocaleString('en'),
  },
  {
    id: 'progress',
    header: 'Progress',
    width: 'minmax(80px, 1.5fr)',
    isEssential: true,
    cell: (batch) => <PortionBar label="Runs" total={batch.runCount} portions={portionsOf(batch)} />,
  },
  {
    id: 'done',
    header: 'Ended',
    width: 'minmax(110px, 1fr)',
    cell: ({ counts, received, runCount, status }) => (
      <span className="number cut">
        {received < runCount && status === 'PENDING'
          ? `${received.toLocaleString('en')} items received`
          : (counts.completed + counts.failed + counts.ended).toLocaleString('en')}
        {counts.failed > 0 && <span className="tone-bad">, {counts.failed.toLocaleString('en')} failed</span>}
      </span>
    ),
  },
  {
    id: 'parent',
    header: 'Triggered by',
    width: 'minmax(90px, 130px)',
    cell: ({ parentRunId }) =>
      parentRunId === undefined ? (
        <span className="muted">–</span>
      ) : (
        <PageLink to={`/runs/${parentRunId}`} className="mono">
          {shortId(parentRunId)}
        </PageLink>
      ),
  },
  { id: 'created', header: 'Created', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'took',
    header: 'Took',
    width: '88px',
    align: 'end',
    cell: ({ status, createdAt, updatedAt }) =>
      status === 'PENDING' ? (
        <Duration since={createdAt} />
      ) : (
        <Duration ms={Date.parse(updatedAt) - Date.parse(createdAt)} />
      ),
  },
];

const example = `await resizeImage.batchTrigger(urls.map((url) => ({ payload: { url } })));`;

/** Runs that were triggered together. */
export function BatchesPage() {
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const input = { query: { 'page[size]': 50 } };
  const list = useLiveList('listBatches', input, idOf);
  return (
    <Page
      title="Batches"
      summary="Runs that were triggered together."
      actions={
        <CodeExample
          operation="listBatches"
          input={input}
          cli="batches list"
          sdk={
            "import { batch } from '@millrace/sdk';\n\nfor await (const { id, counts } of batch.list()) {\n  console.log(id, counts.live, counts.failed);\n}"
          }
        />
      }
    >
      <PageTabs
        label="Many runs"
        tabs={[
          { label: 'Batches', to: '/batches', isCurrent: true },
          { label: 'Bulk actions', to: '/bulk', isCurrent: false },
        ]}
      />
      <LiveTable
        list={list}
        noun="batch"
        nouns="batches"
        label="Batches"
        columns={columns}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(`/batches/${id}`)}
        onOpen={({ id }) => goTo(`/batches/${id}`)}
        empty={
          <Empty title="No batches yet." action={<CodeBlock text={example} />}>
            Your code creates a batch when it triggers several runs at once:
          </Empty>
        }
      />
    </Page>
  );
}
