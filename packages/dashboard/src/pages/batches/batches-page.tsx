import type { ListedBatch } from '@millrace/contract';
import { useAsk, useAskPages } from '../../api/ask.ts';
import { useEnvironmentParams } from '../../api/environment.ts';
import { CodeBlock, SameAs } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { PortionBar } from '../../parts/progress.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import type { Column } from '../../parts/table/column.ts';
import { useLiveRows } from '../../parts/table/live-rows.ts';
import { Table } from '../../parts/table/table.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import { lookOfBatch, portionsOf } from './looks.ts';

const idOf = ({ id }: ListedBatch): string => id;

const columns: readonly Column<ListedBatch>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 130px)',
    isEssential: true,
    cell: (batch) => <Mark look={lookOfBatch(batch)} />,
  },
  {
    id: 'id',
    header: 'Batch',
    width: 'minmax(110px, 160px)',
    isEssential: true,
    cell: ({ id }) => (
      <Id id={id} short>
        <PageLink to={`/batches/${id}`} tabIndex={-1}>
          {shortId(id)}
        </PageLink>
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
          ? `${received.toLocaleString('en')} items came`
          : (counts.completed + counts.failed + counts.ended).toLocaleString('en')}
        {counts.failed > 0 && <span className="tone-bad">, {counts.failed.toLocaleString('en')} failed</span>}
      </span>
    ),
  },
  {
    id: 'parent',
    header: 'Made by',
    width: 'minmax(90px, 130px)',
    cell: ({ parentRunId }) =>
      parentRunId === undefined ? (
        <span className="muted">–</span>
      ) : (
        <PageLink to={`/runs/${parentRunId}`} tabIndex={-1} className="mono">
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
  const params = useEnvironmentParams();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const given = { query: { 'page[size]': 50 } };
  const pages = useAskPages('listBatches', given);
  const head = useAsk('listBatches', given, { live: true, keepPrevious: false });
  const { rows, fresh, showFresh } = useLiveRows(pages, head.data?.data, idOf, JSON.stringify(params));
  return (
    <Page
      title="Batches"
      summary="Runs that were triggered together."
      actions={
        <SameAs
          operation="listBatches"
          given={given}
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
      {pages.error && rows.length === 0 ? (
        <Failure error={pages.error} onRetry={pages.refetch} />
      ) : (
        <div className="edge">
          {fresh > 0 && rows.length > 0 && (
            <button type="button" className="new-rows" onClick={showFresh}>
              Show {countText(fresh, 'new batch').replace(/batchs$/, 'batches')}
            </button>
          )}
          <Table
            label="Batches"
            columns={columns}
            rows={rows}
            rowKey={idOf}
            hrefOf={({ id }) => pageHref(`/batches/${id}`)}
            onOpen={({ id }) => goTo(`/batches/${id}`)}
            isPending={pages.isPending}
            hasMore={pages.hasMore}
            loadMore={pages.loadMore}
            empty={
              <Empty title="No batches yet." action={<CodeBlock text={example} />}>
                A batch is there once your code triggers several runs at once:
              </Empty>
            }
          />
        </div>
      )}
    </Page>
  );
}
