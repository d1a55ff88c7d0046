import { withFilterWord } from '@millrace/contract/filter';
import { useMemo } from 'react';
import { keyOf, queryClient } from '../../api/ask.ts';
import { call } from '../../api/client.ts';
import { useEnvironment } from '../../api/environment.ts';
import { useMay, useSession } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { Empty } from '../../parts/empty.tsx';
import type { FilterKey } from '../../parts/filter/complete.ts';
import { FilterField } from '../../parts/filter/filter-field.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Page } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { useSelection } from '../../parts/table/selection.ts';
import { BulkErrors } from './bulk-errors.tsx';
import { errorColumns } from './error-columns.tsx';
import { defaultRange, errorListQuery, ranges } from './error-filter.ts';
import { FailureHistogram } from './failure-histogram.tsx';
import { ownersOf } from './ownership/owners-of.ts';
import './errors.css';

const pageSize = 50;
const statuses = [
  { value: 'unresolved', label: 'Unresolved' },
  { value: 'resolved', label: 'Resolved' },
  { value: 'ignored', label: 'Ignored' },
  { value: 'all', label: 'All' },
] as const;
const owners = [
  { value: 'all', label: 'Everyone' },
  { value: 'me', label: 'Mine' },
] as const;
const sorts = [
  { value: 'lastSeen', label: 'Last seen' },
  { value: 'count', label: 'Most runs' },
  { value: 'firstSeen', label: 'Newest' },
] as const;

/** Failed runs, grouped by cause. */
export function ErrorsPage() {
  const environment = useEnvironment();
  const [search, setSearch] = useSearchTexts();
  const {
    q = '',
    status = 'unresolved',
    range = defaultRange,
    from,
    sort = 'lastSeen',
    owner = 'all',
  } = search;
  const selection = useSelection();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const may = useMay();

  const { user } = useSession();
  const { query, time, trend } = errorListQuery(search, user.email ?? user.id);
  const input = { query: { ...query, trend, 'page[size]': pageSize } };
  const list = useLiveList('listErrors', input, ({ id }) => id, { live: 10_000 });
  const { pages, rows } = list;
  const keys = useMemo(() => filterKeysOf(environment), [environment]);
  const change = (texts: typeof search): void => {
    selection.clear();
    setSearch(texts, { push: true });
  };
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const columns = useMemo(
    () =>
      errorColumns({
        now,
        period: trend,
        onFilter: (key, value) => change({ q: withFilterWord(q, key, value) }),
      }),
    [now, trend, q],
  );

  return (
    <Page
      title="Errors"
      summary={
        pages.isPending ? undefined : (
          <span className="number">
            {countText(pages.hasMore ? `${rows.length}+` : rows.length, 'group')}
            {status === 'all' ? '' : ` ${status}`}
            {from === undefined
              ? range === 'all'
                ? ''
                : `, seen in the last ${range}`
              : ', in the selected range'}
          </span>
        )
      }
      actions={
        <>
          <PageLink to="/errors/rules" className="button">
            Rules
          </PageLink>
          <CodeExample
            operation="listErrors"
            input={{ query }}
            cli={cliText(query)}
            sdk={`import { errors } from '@millrace/sdk';\n\nfor await (const group of errors.list({ status: 'unresolved', period: '7d' })) {\n  console.log(group.count, group.errorMessage);\n}`}
          />
        </>
      }
    >
      <div className="errors-tools">
        <FilterField
          value={q}
          onChange={(next) => change({ q: next || undefined })}
          keys={keys}
          placeholder="Search type and message, or task:… version:… owner:…"
        />
        <Segments
          label="State"
          options={statuses}
          value={status}
          onChange={(value) => change({ status: value === 'unresolved' ? undefined : value })}
        />
        <Segments
          label="Owner"
          options={owners}
          value={owner === 'me' ? 'me' : 'all'}
          onChange={(value) => change({ owner: value === 'all' ? undefined : value })}
        />
        <Segments
          label="Time"
          options={[...ranges, { value: 'all', label: 'All time' }]}
          value={from === undefined ? range : undefined}
          onChange={(next) =>
            change({ range: next === defaultRange ? undefined : next, from: undefined, to: undefined })
          }
        />
        <Segments
          label="Order"
          options={sorts}
          value={sort}
          onChange={(value) => change({ sort: value === 'lastSeen' ? undefined : value })}
        />
      </div>
      <FailureHistogram
        time={time}
        onRange={(start, end) => change({ from: isoText(start), to: isoText(end) })}
      />
      <LiveTable
        list={list}
        noun="error"
        label="Errors"
        columns={columns}
        rowKey={({ id }) => id}
        hrefOf={({ id }) => pageHref(`/errors/${id}`)}
        onOpen={({ id }) => goTo(`/errors/${id}`)}
        {...(may('resolveError') && { selection })}
        empty={
          q === '' && status === 'unresolved' && owner === 'all' && from === undefined ? (
            <Empty
              title={
                range === 'all'
                  ? 'No unresolved errors.'
                  : `No unresolved error occurred in the last ${range}.`
              }
              command={`npx millrace errors list`}
              action={
                range !== 'all' && <Button onClick={() => change({ range: 'all' })}>Show all time</Button>
              }
            >
              Runs that fail are grouped here by cause.
            </Empty>
          ) : (
            <Empty
              title="No errors match this filter."
              action={
                <Button
                  onClick={() =>
                    change({
                      q: undefined,
                      status: 'all',
                      range: 'all',
                      owner: undefined,
                      from: undefined,
                      to: undefined,
                    })
                  }
                >
                  Show all errors
                </Button>
              }
            />
          )
        }
      />
      <BulkErrors selection={selection} rows={rows} />
    </Page>
  );
}

/** To the minute, which keeps addresses short. */
const isoText = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

function cliText(query: Readonly<Record<string, string>>): string {
  const options: readonly (readonly [parameter: string, option: string])[] = [
    ['filter[status]', '--status'],
    ['filter[taskIdentifier]', '--task'],
    ['filter[period]', '--period'],
    ['filter[search]', '--search'],
    ['filter[owner]', '--owner'],
    ['sort', '--sort'],
  ];
  const words = options.flatMap(([parameter, option]) =>
    query[parameter] === undefined ? [] : [option, shellWord(query[parameter])],
  );
  return ['errors list', ...words].join(' ');
}

const completionMs = 60_000;

function filterKeysOf(environment: ReturnType<typeof useEnvironment>): readonly FilterKey[] {
  return [
    {
      key: 'task',
      about: 'id of a task',
      values: async () => {
        const { data } = await queryClient.ensureQueryData({
          queryKey: keyOf(environment, 'listTasks', 'completion'),
          queryFn: () => call('listTasks', {}, { environment }),
          staleTime: completionMs,
        });
        return data.map(({ id }) => id);
      },
    },
    {
      key: 'owner',
      about: 'owner, or email address of a member',
      values: async () => {
        const { data } = await queryClient.ensureQueryData({
          queryKey: keyOf(environment, 'listTasks', 'completion'),
          queryFn: () => call('listTasks', {}, { environment }),
          staleTime: completionMs,
        });
        return ownersOf(data);
      },
    },
    {
      key: 'version',
      about: 'version in which it occurred',
      values: async () => {
        const { data } = await queryClient.ensureQueryData({
          queryKey: keyOf(environment, 'listDeployments', 'completion'),
          queryFn: () => call('listDeployments', {}, { environment }),
          staleTime: completionMs,
        });
        return data.map(({ version }) => version);
      },
    },
  ];
}
