import { useDeferredValue, useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Page } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { Table } from '../../parts/table/table.tsx';
import { taskColumns, type TaskRow } from './task-columns.tsx';
import { successOf } from './task-stats.ts';
import '../../parts/form/form.css';
import './tasks.css';

const orders: Readonly<Record<string, (a: TaskRow, b: TaskRow) => number>> = {
  runs: (a, b) => (b.lastDay?.total.triggered ?? -1) - (a.lastDay?.total.triggered ?? -1),
  success: (a, b) => rateOf(a) - rateOf(b),
};

/** Tasks without runs come last, together with those that are not among the first of the statistics. */
const rateOf = ({ lastDay }: TaskRow): number => (lastDay && successOf(lastDay.total)) ?? 2;

/** The tasks of the current version, with their outcomes of the last day. */
export function TasksPage() {
  const [{ q = '', sort = 'name' }, setSearch] = useSearchTexts();
  const [text, setText] = useState(q);
  const needle = useDeferredValue(text).trim().toLowerCase();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const tasks = useAsk('listTasks', {}, { live: 30_000 });
  const stats = useAsk(
    'retrieveStats',
    {
      query: { by: 'task', period: '24h', limit: 20, sort: sort === 'success' ? 'success' : 'runs' },
    },
    { live: 30_000 },
  );

  const series = new Map(stats.data?.series.map((entry) => [entry.name, entry]));
  const all: readonly TaskRow[] = (tasks.data?.data ?? []).map((task) => ({
    ...task,
    lastDay: series.get(task.id),
  }));
  const found = all.filter(({ id, description = '', filePath }) =>
    `${id}\n${description}\n${filePath}`.toLowerCase().includes(needle),
  );
  const order = orders[sort];
  const rows = order ? found.toSorted(order) : found;
  const version = all[0]?.version;

  return (
    <Page
      title="Tasks"
      summary={
        tasks.data && (
          <span className="number">
            {countText(all.length, 'task')}
            {version !== undefined && ` of version ${version}`}
          </span>
        )
      }
      actions={
        <CodeExample
          operation="listTasks"
          input={{}}
          cli="tasks list"
          sdk={`import { tasks } from '@millrace/sdk';\n\nawait tasks.trigger('${all[0]?.id.replaceAll("'", '') ?? 'my-task'}', { hello: 'world' });`}
        />
      }
    >
      {tasks.error && !tasks.data ? (
        <Failure error={tasks.error} onRetry={() => void tasks.refetch()} />
      ) : (
        <>
          {all.length > 0 && (
            <div className="row wrap">
              <input
                type="search"
                className="input find-task"
                placeholder="Find a task by id, description or file"
                aria-label="Find a task"
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setSearch({ q: event.target.value || undefined });
                }}
              />
              <Segments
                label="Order"
                options={[
                  { value: 'name', label: 'By name' },
                  { value: 'runs', label: 'Most runs' },
                  { value: 'success', label: 'Least success' },
                ]}
                value={sort}
                onChange={(id) => setSearch({ sort: id === 'name' ? undefined : id })}
              />
            </div>
          )}
          <div className="edge">
            <Table
              label="Tasks"
              columns={taskColumns}
              rows={rows}
              rowKey={({ id }) => id}
              hrefOf={({ id }) => pageHref(`/tasks/${encodeURIComponent(id)}`)}
              onOpen={({ id }) => goTo(`/tasks/${encodeURIComponent(id)}`)}
              isPending={tasks.isPending}
              empty={
                all.length > 0 ? (
                  <Empty title="No tasks match by id, description or file." />
                ) : (
                  <Empty title="No tasks yet." command="npx millrace dev">
                    Tasks appear once a version of your code contains them: in development with this command,
                    elsewhere with <code>npx millrace deploy</code>.
                  </Empty>
                )
              }
            />
          </div>
        </>
      )}
    </Page>
  );
}
