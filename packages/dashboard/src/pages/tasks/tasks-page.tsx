import type { TaskSort } from '@millrace/contract';
import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { ColumnMenu } from '../../parts/table/column-menu.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useColumns } from '../../parts/table/use-columns.ts';
import { taskColumns } from './task-columns.tsx';
import '../../parts/form/form.css';
import './tasks.css';

const perPage = 50;

const orders: readonly { readonly value: TaskSort; readonly label: string }[] = [
  { value: 'name', label: 'By name' },
  { value: 'runs', label: 'Most runs' },
  { value: 'failed', label: 'Most failed' },
  { value: 'success', label: 'Least success' },
  { value: 'p50', label: 'Highest p50' },
  { value: 'p95', label: 'Slowest (p95)' },
  { value: 'waiting', label: 'Most waiting' },
  { value: 'oldest', label: 'Oldest waiting run' },
];

/** The tasks of the current version, with their figures of the last day. The server searches and sorts all of them. */
export function TasksPage() {
  const [{ q = '', sort: requestedSort, page = '1', owner = '' }, setSearch] = useSearchTexts();
  const [text, setText] = useState(q);
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const sort = orders.find(({ value }) => value === requestedSort)?.value ?? 'name';
  const search = useDebounced(text.trim());
  const searchedOwner = useDebounced(owner.trim());
  const query = {
    page: Number(page) || 1,
    perPage,
    sort,
    'filter[search]': search || undefined,
    'filter[owner]': searchedOwner || undefined,
  };
  const tasks = useAsk('listTaskActivity', { query }, { live: 30_000 });
  const { data: rows = [], pagination, total = 0 } = tasks.data ?? {};
  const version = rows[0]?.version;
  const { visible, toggle, reset } = useColumns('tasks', taskColumns);
  const sortBy = (by: string): void => setSearch({ sort: by === 'name' ? undefined : by, page: undefined });

  return (
    <Page
      title="Tasks"
      summary={
        tasks.data && (
          <span className="number">
            {countText(total, 'task')}
            {version !== undefined && ` of version ${version}`}
            {(search !== '' || searchedOwner !== '') && `, ${pagination?.count.toLocaleString('en')} found`}
          </span>
        )
      }
      actions={
        <>
          <ColumnMenu columns={taskColumns} visible={visible} onToggle={toggle} onReset={reset} />
          <CodeExample
            operation="listTaskActivity"
            input={{ query }}
            cli="tasks list"
            sdk={`import { tasks } from '@millrace/sdk';\n\nawait tasks.trigger('${rows[0]?.id.replaceAll("'", '') ?? 'my-task'}', { hello: 'world' });`}
          />
        </>
      }
    >
      {tasks.error && !tasks.data ? (
        <Failure error={tasks.error} onRetry={() => void tasks.refetch()} />
      ) : (
        <>
          {total > 0 && (
            <div className="row wrap">
              <input
                type="search"
                className="input find-task"
                placeholder="Find a task by id, description or file"
                aria-label="Find a task"
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setSearch({ q: event.target.value || undefined, page: undefined });
                }}
              />
              <input
                type="search"
                className="input find-owner"
                placeholder="Owner"
                aria-label="Owner"
                value={owner}
                onChange={(event) => setSearch({ owner: event.target.value || undefined, page: undefined })}
              />
              <select
                className="select task-order"
                aria-label="Order"
                value={sort}
                onChange={(event) => sortBy(event.target.value)}
              >
                {orders.map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </div>
          )}
          <div className="edge">
            <Table
              label="Tasks"
              columns={visible}
              rows={rows}
              sorting={{ by: sort, onSort: sortBy }}
              rowKey={({ id }) => id}
              hrefOf={({ id }) => pageHref(`/tasks/${encodeURIComponent(id)}`)}
              onOpen={({ id }) => goTo(`/tasks/${encodeURIComponent(id)}`)}
              isPending={tasks.isPending}
              empty={
                total > 0 ? (
                  <Empty title="No tasks match by id, description, file or owner." />
                ) : (
                  <Empty title="No tasks yet." command="npx millrace dev">
                    Tasks appear once a version of your code contains them: in development with this command,
                    elsewhere with <code>npx millrace deploy</code>.
                  </Empty>
                )
              }
            />
          </div>
          <Pager
            page={query.page}
            pages={pagination?.totalPages ?? 1}
            onPage={(next) => setSearch({ page: next === 1 ? undefined : String(next) }, { push: true })}
          />
        </>
      )}
    </Page>
  );
}
