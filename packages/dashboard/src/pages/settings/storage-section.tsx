import type { StorageClass, StorageUse } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import { ApiError } from '../../api/api-error.ts';
import { useAsk } from '../../api/ask.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { SidePanel } from '../../parts/panel/side-panel.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import '../../parts/plot/plot.css';

type Use = StorageUse['data'][number];

const words: Readonly<Record<StorageClass, string>> = {
  runs: 'Runs',
  waiting: 'Waits',
  logs: 'Logs',
  spans: 'Spans',
  batches: 'Batches',
  packets: 'Large payloads and outputs',
  errors: 'Errors',
  schedules: 'Schedules',
  events: 'Events',
  notifications: 'Notifications',
  sessions: 'Sessions and streams',
  deployments: 'Deployments',
  statistics: 'Statistics',
  audit: 'Audit log',
  other: 'Organizations, projects, keys, variables',
};

/** The disk usage of each class of data in the whole installation. */
export function StorageSection() {
  const [{ class: chosen }, setSearch] = useSearchTexts();
  const storage = useAsk('retrieveStorage', {}, { live: 60_000, inEnvironment: false });
  if (storage.error instanceof ApiError && storage.error.status === 403)
    return (
      <Empty title="Only owners of the first organization see this.">
        It covers everything on this server, not only your organization.
      </Empty>
    );
  if (storage.error && !storage.data)
    return <Failure error={storage.error} onRetry={() => void storage.refetch()} />;
  const total = storage.data?.totalBytes ?? 0;
  const open = storage.data?.data.find((entry) => entry.class === chosen);
  return (
    <div className="stack">
      {storage.data && (
        <p>
          <span className="storage-total number">{readableSize(total)}</span>{' '}
          <span className="muted">on disk, with indexes and free space in the files.</span>
        </p>
      )}
      <div className="edge">
        <Table
          label="Storage"
          columns={columnsOf(total)}
          rows={storage.data?.data ?? []}
          rowKey={(entry) => entry.class}
          onOpen={(entry) => setSearch({ class: entry.class }, { push: chosen === undefined })}
          openKey={chosen}
          isPending={storage.isPending}
          empty={<Empty title="Nothing is stored." command="npx millrace storage" />}
        />
      </div>
      <SidePanel
        isOpen={open !== undefined}
        onClose={() => setSearch({ class: undefined })}
        title={open ? words[open.class] : ''}
      >
        {open && <TableUse use={open} />}
      </SidePanel>
    </div>
  );
}

const TableUse = ({ use }: { readonly use: Use }) => (
  <table className="plain-table">
    <thead>
      <tr>
        <th scope="col">Table</th>
        <th scope="col" className="number">
          On disk
        </th>
      </tr>
    </thead>
    <tbody>
      {use.tables.map(({ name, bytes }) => (
        <tr key={name}>
          <td className="mono">{name}</td>
          <td className="number">{readableSize(bytes)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const columnsOf = (total: number): readonly Column<Use>[] => [
  {
    id: 'class',
    header: 'Data',
    width: 'minmax(140px, 2fr)',
    isEssential: true,
    cell: (entry) => <span>{words[entry.class] ?? entry.class}</span>,
  },
  {
    id: 'share',
    header: 'Share',
    width: 'minmax(120px, 3fr)',
    cell: ({ bytes }) => (
      <span className="storage-bar" aria-hidden="true">
        <span style={{ inlineSize: `${total === 0 ? 0 : Math.max(0.3, (bytes / total) * 100)}%` }} />
      </span>
    ),
  },
  {
    id: 'percent',
    header: '%',
    width: '64px',
    align: 'end',
    cell: ({ bytes }) => (total === 0 ? '–' : ((bytes / total) * 100).toFixed(1)),
  },
  {
    id: 'bytes',
    header: 'On disk',
    width: '96px',
    align: 'end',
    isEssential: true,
    cell: ({ bytes }) => readableSize(bytes),
  },
  {
    id: 'rows',
    header: 'Rows (estimate)',
    width: '112px',
    align: 'end',
    cell: ({ rowsEstimate }) => rowsEstimate.toLocaleString('en'),
  },
];
