import {
  isUnreadable,
  runFilterParams,
  runFilterQuery,
  withFilterWord,
  type RunFilterQuery,
} from '@millrace/contract/filter';
import { useMemo, useRef } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter/filter-field.tsx';
import { Page } from '../../parts/page.tsx';
import { runColumns } from '../../parts/runs/run-columns.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { countText } from '../../parts/count-text.ts';
import { Segments } from '../../parts/segments.tsx';
import { ColumnMenu } from '../../parts/table/column-menu.tsx';
import { useSelection } from '../../parts/table/selection.ts';
import { useColumns } from '../../parts/table/use-columns.ts';
import { BulkActions, BulkProgress } from './bulk-actions.tsx';
import { runFilterKeysOf } from './filter-keys.ts';
import { RunHistogram } from './run-histogram.tsx';
import { ViewMenu } from './view-menu.tsx';
import './runs-page.css';

const ranges = ['1h', '1d', '7d', '30d'];

/** The list of runs: the model for all list pages. Its whole state is in its address. */
export function RunsPage() {
  const environment = useEnvironment();
  const [{ q = '', bulk }, setSearch] = useSearchTexts();
  const selection = useSelection();
  const read = useMemo(() => runFilterQuery(q), [q]);
  const isWrong = isUnreadable(read);
  // An invalid filter does not change the list.
  const lastReadable = useRef<RunFilterQuery>({});
  if (!isWrong) lastReadable.current = read;
  const query = lastReadable.current;

  const count = useAsk('countRuns', { query }, { live: 15_000 });
  const total =
    count.data &&
    (count.data.isExact
      ? count.data.count.toLocaleString('en')
      : `${count.data.count.toLocaleString('en')}+`);
  const keys = useMemo(() => runFilterKeysOf(environment), [environment]);
  const setFilter = (next: string): void => {
    selection.clear();
    setSearch({ q: next || undefined }, { push: true });
  };
  const columns = runColumns({ onFilter: (key, value) => setFilter(withFilterWord(q, key, value)) });
  const { visible, toggle, reset } = useColumns('runs', columns);
  const range = query['filter[createdAt][period]'] ?? (hasTimes(query) ? undefined : '7d');

  return (
    <Page
      title="Runs"
      summary={
        <span className="number">
          {total === undefined ? 'Counting' : countText(total, 'run')}
          {range === undefined ? ' in the selected range' : ` created in the last ${range}`}
        </span>
      }
      actions={
        <>
          <ViewMenu filter={q} onChoose={setFilter} />
          <ColumnMenu columns={columns} visible={visible} onToggle={toggle} onReset={reset} />
          <CodeExample
            operation="listRuns"
            input={{ query }}
            cli={q === '' ? 'runs list' : `runs list ${shellWord(q)}`}
            sdk={`import { runs } from '@millrace/sdk';\n\nfor await (const run of runs.list(${sdkFilter(query)})) {\n  console.log(run.id, run.status);\n}`}
          />
        </>
      }
    >
      <div className="runs-tools">
        <FilterField value={q} onChange={setFilter} keys={keys} error={isWrong ? read.error : undefined} />
        <Segments
          label="Time"
          options={ranges}
          value={range}
          onChange={(next) => {
            const rest = withFilterWord(withFilterWord(q, 'from', undefined), 'to', undefined);
            setFilter(withFilterWord(rest, 'since', next));
          }}
        />
      </div>
      <RunHistogram
        query={query}
        onRange={(from, to) => {
          const rest = withFilterWord(withFilterWord(q, 'since', undefined), 'from', iso(from));
          setFilter(withFilterWord(rest, 'to', iso(to)));
        }}
      />
      {bulk !== undefined && <BulkProgress id={bulk} onClose={() => setSearch({ bulk: undefined })} />}
      <div className="edge">
        <RunList
          query={query}
          columns={visible}
          selection={selection}
          empty={
            q === '' ? (
              <Empty
                title="No runs in the last seven days."
                command="npx millrace trigger <task> --payload '{}'"
              >
                Trigger one from your code, with the command, or on the page of a task.
              </Empty>
            ) : (
              <Empty
                title="No runs match this filter."
                action={<Button onClick={() => setFilter('')}>Clear the filter</Button>}
              >
                {range !== undefined &&
                  `Only runs of the last ${range} were searched: add since:30d for older ones.`}
              </Empty>
            )
          }
        />
      </div>
      <BulkActions
        selection={selection}
        query={query}
        total={total}
        onStart={(id) => setSearch({ bulk: id })}
      />
    </Page>
  );
}

const hasTimes = (query: RunFilterQuery): boolean =>
  query['filter[createdAt][from]'] !== undefined || query['filter[createdAt][to]'] !== undefined;

/** To the minute, which keeps addresses short. */
const iso = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

/** The equivalent options of `runs.list`, as code. */
function sdkFilter(query: RunFilterQuery): string {
  const params = runFilterParams(query);
  if (Object.keys(params).length === 0) return '';
  const text = JSON.stringify(params, undefined, 2);
  return text.replaceAll(/^(\s*)"([A-Za-z]+)":/gm, '$1$2:').replaceAll('"', "'");
}
