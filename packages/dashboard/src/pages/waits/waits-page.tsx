import type { WaitpointToken } from '@millrace/contract';
import { useMay } from '../../api/session.ts';
import { Button, CellButton } from '../../parts/button.tsx';
import { CodeBlock, CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter/filter-field.tsx';
import { useWordFilter } from '../../parts/filter/use-word-filter.ts';
import type { WordKey } from '../../parts/filter/word-query.ts';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { ColumnMenu } from '../../parts/table/column-menu.tsx';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { useColumns } from '../../parts/table/use-columns.ts';
import { useNow } from '../../parts/time/now.ts';
import { Time } from '../../parts/time/time.tsx';
import { tokenBadges } from './badges.ts';
import '../../parts/runs/runs.css';
import './waits.css';

const wordKeys: Readonly<Record<string, WordKey>> = {
  tag: { parameter: 'filter[tags]' },
  key: { parameter: 'filter[idempotencyKey]' },
  since: { parameter: 'filter[createdAt][period]', kind: 'period' },
};

const filterKeys = [
  { key: 'tag', about: 'a tag of the token' },
  { key: 'key', about: 'its idempotency key' },
  { key: 'since', about: 'created in the last 2h, 7d …', values: () => ['1h', '1d', '7d', '30d'] },
];

const statuses = [
  { value: 'WAITING', label: 'Waiting' },
  { value: 'COMPLETED', label: 'Completed' },
  { value: 'TIMED_OUT', label: 'Timed out' },
  { value: 'all', label: 'All' },
] as const;
type StatusChoice = (typeof statuses)[number]['value'];

const idOf = ({ id }: WaitpointToken): string => id;
const minute = 60_000;

/** When it times out; highlighted in the last ten minutes. */
function Timeout({ at }: { readonly at: string }) {
  const isNear = Date.parse(at) - useNow() < 10 * minute;
  return (
    <span className={isNear ? 'tone-warn strong' : ''}>
      <Time at={at} />
    </span>
  );
}

const columnsOf = (
  onTag: (tag: string) => void,
  onComplete: ((id: string) => void) | undefined,
): readonly Column<WaitpointToken>[] => [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 120px)',
    cell: ({ status }) => <Mark badge={tokenBadges[status]} />,
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(90px, 1.2fr)',
    isEssential: true,
    cell: ({ details }) => {
      const [run] = details?.runs ?? [];
      return run === undefined ? (
        <span className="muted">no run</span>
      ) : (
        <>
          <span className="strong-cell cut">{visibleControls(run.taskIdentifier)}</span>
          {run.description !== undefined && (
            <span className="cell-note muted cut">{visibleControls(run.description)}</span>
          )}
        </>
      );
    },
  },
  {
    id: 'run',
    header: 'Run',
    width: 'minmax(120px, 170px)',
    cell: ({ details }) => {
      const [run, ...others] = details?.runs ?? [];
      return run === undefined ? (
        <span className="muted">–</span>
      ) : (
        <>
          <Id id={run.id} short>
            <PageLink to={`/runs/${run.id}`}>{shortId(run.id)}</PageLink>
          </Id>
          {others.length > 0 && <span className="muted"> and more</span>}
        </>
      );
    },
  },
  {
    id: 'tags',
    header: 'Waits for',
    width: 'minmax(90px, 1.6fr)',
    isEssential: true,
    cell: ({ tags, details }) =>
      details?.event !== undefined ? (
        <span className="cut">
          the event <span className="mono">{visibleControls(details.event)}</span>
        </span>
      ) : tags.length === 0 ? (
        <span className="muted">a completion</span>
      ) : (
        <span className="wait-tags">
          {tags.map((tag) => (
            <CellButton key={tag} className="wait-tag" tip={`Only tag:${tag}`} onClick={() => onTag(tag)}>
              {tag}
            </CellButton>
          ))}
        </span>
      ),
  },
  {
    id: 'since',
    header: 'Since',
    width: '96px',
    cell: ({ createdAt, details }) => <Time at={details?.runs?.[0]?.since ?? createdAt} />,
  },
  {
    id: 'id',
    header: 'Token',
    width: 'minmax(120px, 170px)',
    startsHidden: true,
    cell: ({ id }) => (
      <Id id={id} short>
        <PageLink to={`/waits/${id}`}>{shortId(id)}</PageLink>
      </Id>
    ),
  },
  {
    id: 'key',
    header: 'Idempotency key',
    width: 'minmax(90px, 1fr)',
    startsHidden: true,
    cell: ({ idempotencyKey }) => <span className="mono cut">{idempotencyKey ?? '–'}</span>,
  },
  {
    id: 'end',
    header: 'Expires',
    width: '96px',
    cell: ({ status, timeoutAt, completedAt }) =>
      status !== 'WAITING' && completedAt !== undefined ? (
        <Time at={completedAt} />
      ) : timeoutAt === undefined ? (
        <span className="muted">never</span>
      ) : (
        <Timeout at={timeoutAt} />
      ),
  },
  ...(onComplete
    ? [
        {
          id: 'complete',
          header: '',
          width: '104px',
          align: 'end' as const,
          isEssential: true,
          isFixed: true,
          cell: ({ id, status }: WaitpointToken) =>
            status === 'WAITING' && (
              <Button variant="plain" onClick={() => onComplete(id)}>
                Complete
              </Button>
            ),
        },
      ]
    : []),
];

const example = `const token = await wait.createToken({ timeout: '1d', tags: ['approval'] });
const { ok, output } = await wait.forToken<{ approved: boolean }>(token.id);`;

/** Tokens that are completed from outside, such as approvals. Waiting ones come first. */
export function WaitsPage() {
  const [{ status: requestedStatus }, setSearch] = useSearchTexts();
  const status: StatusChoice = statuses.find(({ value }) => value === requestedStatus)?.value ?? 'WAITING';
  const may = useMay();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const filter = useWordFilter(wordKeys);
  const query = { ...filter.query, ...(status !== 'all' && { 'filter[status]': status }) };
  const input = { query: { ...query, 'page[size]': 50, details: 'true' as const } };
  const live = useLiveList('listWaitpointTokens', input, idOf);
  const { head } = live;
  // A token that was completed in the meantime is no longer waiting.
  const waiting = new Set(head?.data.map(idOf));
  const oldest = head?.data.at(-1)?.id ?? '';
  const rows =
    status === 'WAITING' && head
      ? live.rows.filter(({ id }) => waiting.has(id) || (head.pagination.next !== undefined && id < oldest))
      : live.rows;
  const columns = columnsOf(
    (tag) => filter.add('tag', tag),
    may('completeWaitpointToken') ? (id) => goTo(`/waits/${id}`) : undefined,
  );
  const { visible, toggle, reset } = useColumns('waits', columns);
  return (
    <Page
      title="Waits"
      summary="Tokens that a person or another system completes. Waiting runs then continue."
      actions={
        <>
          <ColumnMenu columns={columns} visible={visible} onToggle={toggle} onReset={reset} />
          <CodeExample
            operation="listWaitpointTokens"
            input={input}
            cli={undefined}
            sdk={
              "import { wait } from '@millrace/sdk';\n\nfor await (const token of wait.listTokens({ status: 'WAITING' })) {\n  console.log(token.id, token.tags);\n}"
            }
          />
        </>
      }
    >
      <div className="list-tools">
        <Segments
          label="Status"
          options={statuses}
          value={status}
          onChange={(next) => setSearch({ status: next === 'WAITING' ? undefined : next })}
        />
        <FilterField
          value={filter.text}
          onChange={filter.set}
          keys={filterKeys}
          error={filter.error}
          placeholder="Filter, such as tag:approval since:7d"
        />
      </div>
      <LiveTable
        list={{ ...live, rows }}
        noun="token"
        label="Tokens"
        columns={visible}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(`/waits/${id}`)}
        onOpen={({ id }) => goTo(`/waits/${id}`)}
        empty={
          filter.text === '' ? (
            <Empty
              title={status === 'WAITING' ? 'No tokens are waiting.' : 'No tokens in this state.'}
              action={<CodeBlock text={example} />}
            >
              Your code creates a token and waits for it:
            </Empty>
          ) : (
            <Empty
              title="No tokens match this filter."
              action={<Button onClick={() => filter.set('')}>Clear the filter</Button>}
            />
          )
        }
      />
    </Page>
  );
}
