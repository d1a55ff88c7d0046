import type { WebhookDelivery } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Page, Properties, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { DeliveryBody } from './delivery-body.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { schemeOf, statusBadge, webhookPath } from './words.ts';
import './webhooks.css';

type DeliveryRun = WebhookDelivery['runs'][number];

const columns: readonly Column<DeliveryRun>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 160px)',
    isEssential: true,
    cell: ({ status }) => <Mark badge={statusBadge(status)} />,
  },
  {
    id: 'id',
    header: 'Run',
    width: 'minmax(120px, 1fr)',
    isEssential: true,
    cell: ({ id }) => (
      <Id id={id} short>
        <PageLink to={`/runs/${id}`}>{shortId(id)}</PageLink>
      </Id>
    ),
  },
];

/** One accepted request: its headers, its body and the runs that it started. */
export function DeliveryPage() {
  const { deliveryId = '' } = useParams({ strict: false }) as { readonly deliveryId?: string };
  const params = { webhookDeliveryId: deliveryId };
  const found = useAsk('retrieveWebhookDelivery', { params }, { live: 2_000, keepPrevious: false });
  if (found.data) return <Loaded delivery={found.data} />;
  return (
    <Page title="Webhook delivery">
      {found.error ? (
        <Failure error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function Loaded({ delivery }: { readonly delivery: WebhookDelivery }) {
  const may = useMay();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const [isReplaying, setReplaying] = useState(false);
  const webhooks = useAsk('listWebhooks', {});
  const declared = webhooks.data?.data.find(({ id }) => id === delivery.webhook);
  const headers = Object.entries(delivery.headers);
  return (
    <Page
      title={`Delivery to ${delivery.webhook}`}
      summary={<Id id={delivery.id} />}
      actions={
        <>
          {may('replayWebhookDelivery') && (
            <Button icon="replay" onClick={() => setReplaying(true)}>
              Replay
            </Button>
          )}
          <CodeExample
            operation="retrieveWebhookDelivery"
            input={{ params: { webhookDeliveryId: delivery.id } }}
            cli={`webhooks show ${shellWord(delivery.id)}`}
            sdk={`import { webhooks } from '@millrace/sdk';\n\nconst delivery = await webhooks.retrieve(${JSON.stringify(delivery.id)});`}
          />
        </>
      }
    >
      <Properties
        properties={[
          [
            'Webhook',
            <PageLink key="webhook" to={webhookPath(delivery.webhook)}>
              {visibleControls(delivery.webhook)}
            </PageLink>,
          ],
          [
            'Verification',
            declared === undefined
              ? 'accepted'
              : declared.scheme === 'none'
                ? 'accepted without verification'
                : `accepted, signature valid (${schemeOf(declared)})`,
          ],
          ["Sender's id", delivery.senderId === null ? 'none' : <Id key="sender" id={delivery.senderId} />],
          ['Received', <Time key="received" at={delivery.receivedAt} />],
          ['Size', readableSize(delivery.bytes)],
          ['Repeated requests', delivery.repeated.toLocaleString('en')],
        ]}
      />
      <Section title="Runs">
        <div className="edge">
          <Table
            label="Runs of the delivery"
            columns={columns}
            rows={delivery.runs}
            rowKey={({ id }) => id}
            hrefOf={({ id }) => pageHref(`/runs/${id}`)}
            onOpen={({ id }) => goTo(`/runs/${id}`)}
            empty={<Empty title="None of its runs are stored." />}
          />
        </div>
      </Section>
      <Section title="Body">
        <DeliveryBody delivery={delivery} />
      </Section>
      <Section title="Headers">
        {headers.length === 0 ? (
          <p className="muted">No headers.</p>
        ) : (
          <dl className="webhook-headers">
            {headers.map(([name, value]) => [
              <dt key={`${name} name`}>{visibleControls(name)}</dt>,
              <dd key={`${name} value`}>{visibleControls(value)}</dd>,
            ])}
          </dl>
        )}
      </Section>
      <ReplayDialog
        delivery={delivery}
        isOpen={isReplaying}
        onClose={() => setReplaying(false)}
        onStarted={() => setReplaying(false)}
      />
    </Page>
  );
}
