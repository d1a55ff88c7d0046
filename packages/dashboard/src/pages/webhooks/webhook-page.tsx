import type { Webhook } from '@millrace/contract';
import { useParams } from '@tanstack/react-router';
import { useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { shellWord } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { useShortcuts } from '../../parts/keyboard.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Page, Properties, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo } from '../../parts/page-link.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Time } from '../../parts/time/time.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { Secrets, SecretNotice } from './secrets.tsx';
import { SendDialog } from './send-dialog.tsx';
import { deliveryPath, lacksSecret, reasonOf, rejectedOf, schemeOf } from './words.ts';
import './webhooks.css';

/** One webhook: its address and verification, and the requests that it accepted and rejected. */
export function WebhookPage() {
  const { webhookId = '' } = useParams({ strict: false }) as { readonly webhookId?: string };
  const webhooks = useAsk('listWebhooks', {}, { live: 15_000 });
  const webhook = webhooks.data?.data.find(({ id }) => id === webhookId);
  if (webhook) return <Loaded key={webhook.id} webhook={webhook} />;
  return (
    <Page title={webhookId}>
      {webhooks.data ? (
        <>
          <p className="muted">
            The current version does not declare this webhook, so requests to its address get 404.
          </p>
          <DeliveryList webhook={webhookId} empty={<Empty title="No deliveries are stored." />} />
        </>
      ) : webhooks.error ? (
        <Failure error={webhooks.error} onRetry={() => void webhooks.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function Loaded({ webhook }: { readonly webhook: Webhook }) {
  const may = useMay();
  const goTo = useGoTo();
  const [{ send }, setSearch] = useSearchTexts();
  const maySend = may('sendWebhook');
  const openSend = (): void => setSearch({ send: 'request' }, { push: true });
  useShortcuts(maySend ? [{ keys: 'n', label: 'Send a test request', run: openSend }] : []);
  const { id, url, idHeader, lastDeliveryAt, lastDay, rejected } = webhook;
  return (
    <Page
      title={id}
      summary={
        <span className="webhook-address">
          <code>{url}</code>
          <CopyButton text={url} what="Copy address" />
        </span>
      }
      actions={
        maySend && (
          <Button variant="main" icon="webhooks" shortcut="n" onClick={openSend}>
            Send a test request
          </Button>
        )
      }
    >
      {lacksSecret(webhook) && <SecretNotice webhook={webhook} />}
      <Properties
        properties={[
          [
            'Triggered task',
            <PageLink key="task" to={`/tasks/${encodeURIComponent(id)}`}>
              {visibleControls(id)}
            </PageLink>,
          ],
          ['Signature', schemeOf(webhook)],
          ['Secret', <Secrets key="secret" webhook={webhook} />],
          idHeader === undefined
            ? undefined
            : ["Header of the sender's id", <code key="id">{idHeader}</code>],
          ['Last delivery', lastDeliveryAt === null ? 'none' : <Time key="last" at={lastDeliveryAt} />],
          ['Failed runs, 24 h', lastDay.failed.toLocaleString('en')],
          ['Rejected requests, 24 h', rejectedOf(webhook).toLocaleString('en')],
          ['Rejected requests, total', rejected.toLocaleString('en')],
        ]}
      />
      {lastDay.rejections.length > 0 && (
        <Section title="Rejected in the last 24 hours">
          <ul className="stack">
            {lastDay.rejections.map(({ code, count, lastAt }) => (
              <li key={code}>
                {countText(count, 'request')}: {reasonOf(code)} (<code>{code}</code>), last{' '}
                <Time at={lastAt} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Deliveries">
        <DeliveryList
          webhook={id}
          empty={
            <Empty title="No deliveries yet." command={`npx millrace webhooks send ${shellWord(id)}`}>
              Enter the address at the provider, or send a test request.
            </Empty>
          }
        />
      </Section>
      {send !== undefined && maySend && (
        <SendDialog
          webhook={webhook}
          onClose={() => setSearch({ send: undefined })}
          onSent={(delivery) => goTo(deliveryPath(delivery))}
        />
      )}
    </Page>
  );
}
