import type { NotificationEndpoint } from '@millrace/contract';
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
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointPanel } from './endpoint-panel.tsx';
import { endpointBadge, recipientOf } from './endpoint-words.ts';
import { NewSecret } from './new-secret.tsx';
import { kindWords } from './types.ts';

/** The webhooks, chats and mailboxes that receive notifications of the environment. */
export function EndpointsTab() {
  const params = useEnvironmentPath();
  const may = useMay();
  const [{ panel }, setSearch] = useSearchTexts();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const endpoints = useAsk('listNotificationEndpoints', { params }, { live: 15_000 });
  const mayWrite = may('createNotificationEndpoint');
  useShortcuts(mayWrite ? [{ keys: 'n', label: 'Add an endpoint', run: () => setAdding(true) }] : []);
  if (endpoints.error && !endpoints.data)
    return <Failure error={endpoints.error} onRetry={() => void endpoints.refetch()} />;
  const all = endpoints.data?.data ?? [];
  return (
    <div className="stack">
      {mayWrite && (
        <div className="row notifications-tools">
          <Button icon="plus" variant="main" shortcut="n" onClick={() => setAdding(true)}>
            Add endpoint
          </Button>
        </div>
      )}
      <div className="edge">
        <Table
          label="Endpoints"
          columns={columns}
          rows={all}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setSearch({ panel: id }, { push: panel === undefined })}
          openKey={panel}
          isPending={endpoints.isPending}
          empty={
            <Empty
              title="No endpoints yet."
              command="npx millrace notifications add webhook https://example.com/hook"
            >
              Webhooks receive signed requests for the types that you choose. Chat and email receive alerts.
            </Empty>
          }
        />
      </div>
      <EndpointPanel endpoint={all.find(({ id }) => id === panel)} mayWrite={mayWrite} onSecret={setSecret} />
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)} title="Add an endpoint" isWide>
        <EndpointForm
          onClose={() => setAdding(false)}
          onDone={(created) => {
            setAdding(false);
            setSecret(created.secret);
          }}
        />
      </Dialog>
      <NewSecret secret={secret} onClose={() => setSecret(undefined)} />
    </div>
  );
}

const columns: readonly Column<NotificationEndpoint>[] = [
  {
    id: 'recipient',
    header: 'Endpoint',
    width: 'minmax(180px, 3fr)',
    isEssential: true,
    cell: (endpoint) => <span className="cut">{recipientOf(endpoint)}</span>,
  },
  { id: 'kind', header: 'Kind', width: '88px', cell: ({ kind }) => <span>{kindWords[kind]}</span> },
  {
    id: 'state',
    header: 'State',
    width: 'minmax(96px, 1fr)',
    isEssential: true,
    cell: (endpoint) => <Mark badge={endpointBadge(endpoint)} />,
  },
  {
    id: 'types',
    header: 'Notification types',
    width: 'minmax(140px, 2fr)',
    cell: ({ types }) => (
      <span className="mono cut" data-tip={types.join('\n')}>
        {types.includes('*') ? 'everything' : types.join(', ')}
      </span>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    width: 'minmax(100px, 2fr)',
    cell: ({ description }) => <span>{description}</span>,
  },
  { id: 'created', header: 'Created', width: '88px', cell: ({ createdAt }) => <Time at={createdAt} /> },
];
