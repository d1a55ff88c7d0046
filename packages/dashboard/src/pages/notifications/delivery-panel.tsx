import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { Properties, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/panel/side-panel.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { deliveryBadge } from './delivery-badge.ts';

interface DeliveryPanelProps {
  readonly id: string | undefined;
  readonly recipients: ReadonlyMap<string, string>;
  readonly mayResend: boolean;
}

/** One delivery: its content, the response, and sending it again. */
export function DeliveryPanel({ id, recipients, mayResend }: DeliveryPanelProps) {
  const params = useEnvironmentPath();
  const [, setSearch] = useSearchTexts();
  const resend = useAct('replayNotificationDelivery', {
    invalidates: ['listNotificationDeliveries', 'retrieveNotificationDelivery'],
    done: 'Delivery queued again',
  });
  return (
    <SidePanel
      isOpen={id !== undefined}
      onClose={() => setSearch({ panel: undefined })}
      title="Delivery"
      subject={id}
      actions={
        mayResend &&
        id !== undefined && (
          <Button
            icon="replay"
            isBusy={resend.isPending}
            onClick={() => resend.mutate({ params: { ...params, deliveryId: id } })}
          >
            Send again
          </Button>
        )
      }
    >
      {id !== undefined && <Content key={id} id={id} recipients={recipients} />}
    </SidePanel>
  );
}

function Content({
  id,
  recipients,
}: {
  readonly id: string;
  readonly recipients: ReadonlyMap<string, string>;
}) {
  const params = { ...useEnvironmentPath(), deliveryId: id };
  const found = useAsk('retrieveNotificationDelivery', { params }, { live: true, keepPrevious: false });
  if (found.error && !found.data) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton lines={6} label="Loading the delivery" />;
  const delivery = found.data;
  return (
    <div className="stack">
      <Properties
        properties={[
          ['Outcome', <Mark key="status" badge={deliveryBadge(delivery.status)} />],
          ['Type', <code key="type">{delivery.type}</code>],
          ['To', recipients.get(delivery.endpointId) ?? delivery.endpointId],
          ['Attempts', delivery.attempts],
          delivery.responseStatus === null ? undefined : ['Last response', delivery.responseStatus],
          delivery.lastAttemptAt === null
            ? undefined
            : ['Last attempt', <Time key="last" at={delivery.lastAttemptAt} />],
          delivery.deliveredAt === null
            ? undefined
            : ['Delivered', <Time key="delivered" at={delivery.deliveredAt} />],
          delivery.status !== 'PENDING' || delivery.dueAt === null
            ? undefined
            : ['Next attempt', <Time key="due" at={delivery.dueAt} />],
          ['Created', <Time key="created" at={delivery.createdAt} />],
          ['Id', <Id key="id" id={delivery.id} short />],
          ['Message id', <Id key="message" id={delivery.messageId} short />],
        ]}
      />
      {delivery.failure !== null && (
        <div className="notice tone-bad">
          <span>{delivery.failure}</span>
        </div>
      )}
      <Section title="Message">
        <JsonTree value={delivery.body} label="Body" depth={4} />
      </Section>
    </div>
  );
}
