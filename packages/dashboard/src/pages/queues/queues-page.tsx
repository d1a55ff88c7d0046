import { useState } from 'react';
import { useDebounced } from '../../parts/debounced.ts';
import { useAsk } from '../../api/ask.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { Table } from '../../parts/table/table.tsx';
import { EnvironmentCard } from './environment-card.tsx';
import { queueColumns, type QueueRow } from './queue-columns.tsx';
import { addressOf, fullName } from '../../parts/queue-name.ts';
import '../../parts/form/form.css';
import './queues.css';

const perPage = 100;

/** The orders of the API by their names in the address. */
const orders = {
  waiting: 'queued',
  oldest: 'oldest',
  running: 'running',
  limit: 'limit',
  name: 'name',
} as const;
const orderOf = (sort: string) => orders[sort as keyof typeof orders] ?? orders.waiting;

/** Where runs wait. */
export function QueuesPage() {
  const [{ q = '', sort = 'waiting', page = '1' }, setSearch] = useSearchTexts();
  const [text, setText] = useState(q);
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const search = useDebounced(text.trim());
  const query = {
    page: Number(page) || 1,
    perPage,
    sort: orderOf(sort),
    oldest: 'true' as const,
    'filter[search]': search || undefined,
  };
  const queues = useAsk('listQueues', { query }, { live: true });
  const pausedQueues = useAsk(
    'listQueues',
    { query: { perPage: 1, 'filter[paused]': 'true' } },
    { live: true },
  );
  const stats = useAsk(
    'retrieveStats',
    { query: { by: 'queue', period: '1h', limit: 20 } },
    { live: 30_000 },
  );

  const series = new Map(stats.data?.series.map((entry) => [entry.name, entry]));
  const rows: readonly QueueRow[] = (queues.data?.data ?? []).map((queue) => ({
    ...queue,
    lastHour: series.get(fullName(queue)),
  }));
  const choose = (order: string): void =>
    setSearch({ sort: order === 'waiting' ? undefined : order, page: undefined });
  const { totalPages = 1, count = 0 } = queues.data?.pagination ?? {};
  const paused = pausedQueues.data?.pagination.count ?? 0;
  const hasNone = queues.data !== undefined && count === 0 && search === '' && text === '';

  return (
    <Page
      title="Queues"
      summary={
        queues.data && (
          <span className="number">
            {countText(count, 'queue')}
            {search !== '' && ' found'}
            {paused > 0 && `, ${paused.toLocaleString('en')} paused`}
          </span>
        )
      }
      actions={
        <CodeExample
          operation="listQueues"
          input={{ query }}
          cli="queues list"
          sdk={`import { queues } from '@millrace/sdk';\n\nfor await (const queue of queues.list()) {\n  console.log(queue.name, queue.running, queue.queued);\n}`}
        />
      }
    >
      <EnvironmentCard />
      {queues.error && !queues.data ? (
        <Failure error={queues.error} onRetry={() => void queues.refetch()} />
      ) : (
        <>
          {!hasNone && (
            <div className="row wrap">
              <input
                type="search"
                className="input find-queue"
                placeholder="Find a queue"
                aria-label="Find a queue"
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setSearch({ q: event.target.value || undefined, page: undefined });
                }}
              />
              <Segments
                label="Order"
                options={[
                  { value: 'waiting', label: 'Most waiting' },
                  { value: 'oldest', label: 'Oldest' },
                  { value: 'running', label: 'Most running' },
                  { value: 'name', label: 'By name' },
                ]}
                value={sort}
                onChange={choose}
              />
            </div>
          )}
          <div className="edge">
            <Table
              label="Queues"
              columns={queueColumns}
              rows={rows}
              sorting={{ by: query.sort, onSort: (by) => choose(by === orders.waiting ? 'waiting' : by) }}
              rowKey={({ id }) => id}
              hrefOf={(queue) => pageHref(addressOf(queue))}
              onOpen={(queue) => goTo(addressOf(queue))}
              isPending={queues.isPending}
              empty={
                !hasNone ? (
                  <Empty title="No queue names match.">Search for any part of the name.</Empty>
                ) : (
                  <Empty title="No queues yet." command="npx millrace trigger <task> --payload '{}'">
                    Each task has its own queue once a version declares it.
                  </Empty>
                )
              }
            />
          </div>
          <Pager
            page={query.page}
            pages={totalPages}
            onPage={(next) => setSearch({ page: next === 1 ? undefined : String(next) }, { push: true })}
          />
        </>
      )}
    </Page>
  );
}
