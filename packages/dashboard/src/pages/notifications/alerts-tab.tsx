import type { Alert } from '@millrace/contract';
import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { useShortcuts } from '../../parts/keyboard.ts';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { AlertForm } from './alert-form.tsx';
import { AlertPanel } from './alert-panel.tsx';
import { alertBadge } from './alert-badge.ts';
import { conditionText } from './condition-text.ts';
import { alertWords } from './types.ts';

/** The conditions that the server monitors. */
export function AlertsTab() {
  const params = useEnvironmentPath();
  const may = useMay();
  const [{ panel }, setSearch] = useSearchTexts();
  const [isAdding, setAdding] = useState(false);
  const alerts = useAsk('listAlerts', { params }, { live: true });
  const mayWrite = may('createAlert');
  useShortcuts(mayWrite ? [{ keys: 'n', label: 'Add an alert', run: () => setAdding(true) }] : []);
  if (alerts.error && !alerts.data)
    return <Failure error={alerts.error} onRetry={() => void alerts.refetch()} />;
  const all = alerts.data?.data ?? [];
  return (
    <div className="stack">
      {mayWrite && (
        <div className="row notifications-tools">
          <Button icon="plus" variant="main" shortcut="n" onClick={() => setAdding(true)}>
            Add alert
          </Button>
        </div>
      )}
      <div className="edge">
        <Table
          label="Alerts"
          columns={columns}
          rows={all}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setSearch({ panel: id }, { push: panel === undefined })}
          openKey={panel}
          isPending={alerts.isPending}
          empty={
            <Empty title="No alerts yet." command="npx millrace alerts add error.new">
              An alert notifies endpoints when its condition begins to hold and when it ends.
            </Empty>
          }
        />
      </div>
      <AlertPanel alert={all.find(({ id }) => id === panel)} mayWrite={mayWrite} />
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)} title="Add an alert">
        <AlertForm onClose={() => setAdding(false)} />
      </Dialog>
    </div>
  );
}

const columns: readonly Column<Alert>[] = [
  {
    id: 'state',
    header: 'State',
    width: '96px',
    isEssential: true,
    cell: (alert) => <Mark badge={alertBadge(alert)} />,
  },
  {
    id: 'name',
    header: 'Alert',
    width: 'minmax(140px, 2fr)',
    isEssential: true,
    cell: ({ name, kind }) => <span>{name ?? alertWords[kind].label}</span>,
  },
  {
    id: 'condition',
    header: 'Fires when',
    width: 'minmax(180px, 4fr)',
    cell: (alert) => <span className="muted cut">{conditionText(alert)}</span>,
  },
  {
    id: 'tells',
    header: 'Notifies',
    width: '104px',
    cell: ({ endpoints }) => <span>{endpoints === null ? 'all' : `${endpoints.length} chosen`}</span>,
  },
  {
    id: 'last',
    header: 'Last message',
    width: '104px',
    cell: ({ lastSentAt }) =>
      lastSentAt === null ? <span className="muted">none</span> : <Time at={lastSentAt} />,
  },
];
