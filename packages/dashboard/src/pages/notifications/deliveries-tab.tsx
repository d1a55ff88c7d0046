import type { NotificationDelivery } from '@millrace/contract';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { deliveryBadge } from './delivery-badge.ts';
import { DeliveryPanel } from './delivery-panel.tsx';
import { recipientOf } from './endpoint-words.ts';
import { typeWords } from './types.ts';

const keyOf = ({ id }: NotificationDelivery): string => id;

const outcomes = [
  { value: '', label: 'All' },
  { value: 'PENDING', label: 'Waiting' },
  { value: 'DELIVERED', label: 'Delivered' },
  { value: 'FAILED', label: 'Failed' },
] as const;

/** Sent and pending deliveries. Each opens with its content and can be resent. */
export function DeliveriesTab() {
  const params = useEnvironmentPath();
  const may = useMay();
  const [{ status = '', endpoint = '', type = '', panel }, setSearch] = useSearchTexts();
  const endpoints = useAsk('listNotificationEndpoints', { params });
  const query = {
    'page[size]': 50,
    'filter[status]': status || undefined,
    'filter[endpoint]': endpoint || undefined,
    'filter[type]': type || undefined,
  };
  const list = useLiveList('listNotificationDeliveries', { params, query }, keyOf);
  const recipients = new Map(
    (endpoints.data?.data ?? []).map((recipient) => [recipient.id, recipientOf(recipient)]),
  );
  const isFiltered = status !== '' || endpoint !== '' || type !== '';
  return (
    <div className="stack">
      <div className="row wrap">
        <Segments
          label="Outcome"
          options={outcomes}
          value={status}
          onChange={(value) => setSearch({ status: value || undefined }, { push: true })}
        />
        <select
          className="select notifications-select"
          aria-label="Endpoint"
          value={endpoint}
          onChange={(event) => setSearch({ endpoint: event.target.value || undefined }, { push: true })}
        >
          <option value="">All endpoints</option>
          {[...recipients].map(([id, recipient]) => (
            <option key={id} value={id}>
              To {recipient}
            </option>
          ))}
        </select>
        <select
          className="select notifications-select"
          aria-label="Type"
          value={type}
          onChange={(event) => setSearch({ type: event.target.value || undefined }, { push: true })}
        >
          <option value="">All types</option>
          {Object.entries(typeWords).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <LiveTable
        list={list}
        noun="delivery"
        nouns="deliveries"
        label="Deliveries"
        columns={deliveryColumns(recipients)}
        rowKey={keyOf}
        onOpen={({ id }) => setSearch({ panel: id }, { push: panel === undefined })}
        openKey={panel}
        empty={
          isFiltered ? (
            <Empty
              title="No deliveries match."
              action={
                <Button
                  onClick={() => setSearch({ status: undefined, endpoint: undefined, type: undefined })}
                >
                  Show all
                </Button>
              }
            />
          ) : (
            <Empty title="No deliveries yet." command="npx millrace notifications test <endpoint>">
              Every message to an endpoint is listed here with its responses.
            </Empty>
          )
        }
      />
      <DeliveryPanel
        id={panel?.startsWith('delivery_') ? panel : undefined}
        recipients={recipients}
        mayResend={may('replayNotificationDelivery')}
      />
    </div>
  );
}

const deliveryColumns = (
  recipients: ReadonlyMap<string, string>,
): readonly Column<NotificationDelivery>[] => [
  {
    id: 'status',
    header: 'Outcome',
    width: '108px',
    isEssential: true,
    cell: (delivery) => <Mark badge={deliveryBadge(delivery.status)} />,
  },
  {
    id: 'type',
    header: 'Type',
    width: 'minmax(100px, 2fr)',
    isEssential: true,
    cell: ({ type }) => <code>{type}</code>,
  },
  {
    id: 'to',
    header: 'To',
    width: 'minmax(140px, 3fr)',
    cell: ({ endpointId }) => <span className="cut">{recipients.get(endpointId) ?? endpointId}</span>,
  },
  {
    id: 'answer',
    header: 'Last response',
    width: 'minmax(100px, 2fr)',
    cell: ({ responseStatus, failure }) => (
      <span className="cut" data-tip={failure ?? undefined}>
        {responseStatus ?? ''} <span className="muted">{failure}</span>
      </span>
    ),
  },
  { id: 'attempts', header: 'Attempts', width: '76px', align: 'end', cell: ({ attempts }) => attempts },
  {
    id: 'next',
    header: 'Next attempt',
    width: '104px',
    cell: ({ dueAt, status }) =>
      status === 'PENDING' && dueAt !== null ? <Time at={dueAt} /> : <span className="muted">–</span>,
  },
  {
    id: 'created',
    header: 'Created',
    width: '88px',
    isEssential: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
