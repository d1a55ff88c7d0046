import type { AuditEntry } from '@millrace/contract';
import { useAsk, useAskPages } from '../../../api/ask.ts';
import { useProject } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { shortId } from '../../../parts/id-text.ts';
import { Person } from '../../../parts/people.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import type { Column } from '../../../parts/table/column.ts';
import { useLiveRows } from '../../../parts/table/live-rows.ts';
import { Table } from '../../../parts/table/table.tsx';
import { Time } from '../../../parts/time/time.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { AuditPanel } from './audit-panel.tsx';

const keyOf = ({ id }: AuditEntry): string => id;

/** Who did what to what, the newest first. Every filter is in the address. */
export function AuditSection() {
  const organization = useProject()?.organization.id ?? '';
  const [{ act, actor, target, project, from, to, panel }, setSearch] = useSearchTexts();
  const given = {
    params: { organization },
    query: {
      'page[size]': 50,
      'filter[act]': act,
      'filter[actor]': actor,
      'filter[target]': target,
      'filter[projectRef]': project,
      'filter[from]': from,
      'filter[to]': to,
    },
  };
  const pages = useAskPages('listAuditEntries', given, { enabled: organization !== '' });
  const head = useAsk('listAuditEntries', given, {
    live: 15_000,
    keepPrevious: false,
    enabled: organization !== '',
  });
  const { rows, fresh, showFresh } = useLiveRows(pages, head.data?.data, keyOf, JSON.stringify(given));
  const isFiltered = [act, actor, target, project, from, to].some((one) => one !== undefined);
  const clear = {
    act: undefined,
    actor: undefined,
    target: undefined,
    project: undefined,
    from: undefined,
    to: undefined,
  };
  return (
    <div className="stack">
      <AuditFilters />
      {pages.error && rows.length === 0 ? (
        <Failure error={pages.error} onRetry={pages.refetch} />
      ) : (
        <div className="edge">
          {fresh > 0 && rows.length > 0 && (
            <button type="button" className="new-rows" onClick={showFresh}>
              Show {fresh === 1 ? '1 new entry' : `${fresh} new entries`}
            </button>
          )}
          <Table
            label="Audit log"
            columns={columns}
            rows={rows}
            rowKey={keyOf}
            onOpen={({ id }) => setSearch({ panel: id }, { push: panel === undefined })}
            openKey={panel}
            isPending={pages.isPending}
            hasMore={pages.hasMore}
            loadMore={pages.loadMore}
            empty={
              isFiltered ? (
                <Empty
                  title="No entry matches these filters."
                  action={<Button onClick={() => setSearch(clear)}>Clear the filters</Button>}
                />
              ) : (
                <Empty title="Nothing was recorded yet." command="npx millrace audit">
                  Every administrative act is recorded with who did it, and kept for 400 days.
                </Empty>
              )
            }
          />
        </div>
      )}
      <AuditPanel entry={rows.find(({ id }) => id === panel)} />
    </div>
  );
}

const columns: readonly Column<AuditEntry>[] = [
  { id: 'at', header: 'When', width: '88px', isEssential: true, cell: ({ at }) => <Time at={at} /> },
  {
    id: 'actor',
    header: 'Who',
    width: 'minmax(84px, 1fr)',
    isEssential: true,
    cell: ({ actor }) =>
      actor.kind === 'user' ? (
        <Person id={actor.id} />
      ) : (
        <span data-tip={actor.id}>
          {actor.kind === 'secretKey' ? `Key ${shortId(actor.id)}` : shortId(actor.id)}
        </span>
      ),
  },
  {
    id: 'act',
    header: 'Did',
    width: 'minmax(108px, 1fr)',
    isEssential: true,
    cell: ({ act }) => <code>{act}</code>,
  },
  {
    id: 'target',
    header: 'To',
    width: 'minmax(140px, 2fr)',
    cell: (entry) => (
      <span className="cut" data-tip={entry.target}>
        {nameOf(entry) ?? <code>{shortId(entry.target)}</code>}
      </span>
    ),
  },
  {
    id: 'environment',
    header: 'Environment',
    width: '104px',
    cell: ({ environment }) => <span className="muted">{environment ?? '–'}</span>,
  },
  {
    id: 'from',
    header: 'From',
    width: 'minmax(110px, 1fr)',
    cell: ({ from }) => <code className="muted">{from.address}</code>,
  },
];

/** What people call the thing, where the entry says. */
function nameOf({ old, new: now }: AuditEntry): string | undefined {
  for (const values of [now, old])
    for (const key of ['name', 'branch', 'queue', 'version', 'host', 'email', 'path'])
      if (typeof values?.[key] === 'string') return values[key];
  return undefined;
}
