import type { AuditEntry } from '@millrace/contract';
import { useProject } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { shortId } from '../../../parts/id-text.ts';
import { Person } from '../../../parts/people.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import type { Column } from '../../../parts/table/column.ts';
import { useLiveList } from '../../../parts/table/live-rows.ts';
import { LiveTable } from '../../../parts/table/live-table.tsx';
import { Time } from '../../../parts/time/time.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { AuditPanel } from './audit-panel.tsx';

const keyOf = ({ id }: AuditEntry): string => id;

/** The audit log, newest first. Every filter is in the address. */
export function AuditSection() {
  const organization = useProject()?.organization.id ?? '';
  const [{ act, actor, target, project, from, to, panel }, setSearch] = useSearchTexts();
  const input = {
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
  const list = useLiveList('listAuditEntries', input, keyOf, {
    live: 15_000,
    enabled: organization !== '',
  });
  const { rows } = list;
  const isFiltered = [act, actor, target, project, from, to].some((value) => value !== undefined);
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
      <LiveTable
        list={list}
        noun="entry"
        nouns="entries"
        label="Audit log"
        columns={columns}
        rowKey={keyOf}
        onOpen={({ id }) => setSearch({ panel: id }, { push: panel === undefined })}
        openKey={panel}
        empty={
          isFiltered ? (
            <Empty
              title="No entry matches these filters."
              action={<Button onClick={() => setSearch(clear)}>Clear the filters</Button>}
            />
          ) : (
            <Empty title="No entries yet." command="npx millrace audit">
              Every administrative action is recorded with its actor and retained for 400 days.
            </Empty>
          )
        }
      />
      <AuditPanel entry={rows.find(({ id }) => id === panel)} />
    </div>
  );
}

const columns: readonly Column<AuditEntry>[] = [
  { id: 'at', header: 'When', width: '88px', isEssential: true, cell: ({ at }) => <Time at={at} /> },
  {
    id: 'actor',
    header: 'Actor',
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
    header: 'Action',
    width: 'minmax(108px, 1fr)',
    isEssential: true,
    cell: ({ act }) => <code>{act}</code>,
  },
  {
    id: 'target',
    header: 'Target',
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

/** The display name of the object, if the entry has one. */
function nameOf({ old, new: now }: AuditEntry): string | undefined {
  for (const values of [now, old])
    for (const key of ['name', 'branch', 'queue', 'version', 'host', 'email', 'path'])
      if (typeof values?.[key] === 'string') return values[key];
  return undefined;
}
