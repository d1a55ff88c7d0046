import type { ListedWebhookDelivery } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import { shortId } from '../../parts/id-text.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Time } from '../../parts/time/time.tsx';
import { deliveryPath, statusBadge, webhookPath } from './words.ts';

/** `hasWebhook`: for a list with the deliveries of all webhooks. */
export const deliveryColumns = (hasWebhook: boolean): readonly Column<ListedWebhookDelivery>[] => [
  {
    id: 'status',
    header: 'Run',
    width: 'minmax(44px, 140px)',
    isEssential: true,
    cell: ({ status }) => <Mark badge={statusBadge(status)} />,
  },
  {
    id: 'id',
    header: 'Delivery',
    width: 'minmax(110px, 1fr)',
    isEssential: true,
    cell: ({ id }) => (
      <PageLink to={deliveryPath(id)} className="mono cut">
        {shortId(id)}
      </PageLink>
    ),
  },
  ...(hasWebhook
    ? [
        {
          id: 'webhook',
          header: 'Webhook',
          width: 'minmax(90px, 1fr)',
          cell: ({ webhook }: ListedWebhookDelivery) => (
            <PageLink to={webhookPath(webhook)} className="cut">
              {visibleControls(webhook)}
            </PageLink>
          ),
        },
      ]
    : []),
  {
    id: 'sender',
    header: "Sender's id",
    width: 'minmax(110px, 1.4fr)',
    cell: ({ senderId }) =>
      senderId === null ? (
        <span className="muted">none</span>
      ) : (
        <code className="cut">{visibleControls(senderId)}</code>
      ),
  },
  {
    id: 'runs',
    header: 'Runs',
    width: 'minmax(110px, 1fr)',
    cell: ({ runs }) => (
      <span className="row">
        {runs.slice(-1).map((id) => (
          <PageLink key={id} to={`/runs/${id}`} className="mono cut">
            {shortId(id)}
          </PageLink>
        ))}
        {runs.length > 1 && <span className="muted">+{(runs.length - 1).toLocaleString('en')}</span>}
      </span>
    ),
  },
  {
    id: 'repeated',
    header: 'Repeated',
    width: '84px',
    align: 'end',
    cell: ({ repeated }) =>
      repeated === 0 ? (
        <span className="muted">0</span>
      ) : (
        <span data-tip="Later requests with the same id. They started no run.">
          {repeated.toLocaleString('en')}
        </span>
      ),
  },
  {
    id: 'size',
    header: 'Size',
    width: '76px',
    align: 'end',
    cell: ({ bytes }) => readableSize(bytes),
  },
  {
    id: 'received',
    header: 'Received',
    width: '96px',
    isEssential: true,
    cell: ({ receivedAt }) => <Time at={receivedAt} />,
  },
];
