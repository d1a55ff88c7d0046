import type { Webhook } from '@millrace/contract';
import { useAsk } from '../../api/ask.ts';
import { CodeBlock, CodeExample } from '../../parts/code/code-tabs.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { WebhookTabs } from './tabs.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { lacksSecret, rejectedOf, schemeOf, webhookPath } from './words.ts';
import './webhooks.css';

const columns: readonly Column<Webhook>[] = [
  {
    id: 'id',
    header: 'Webhook',
    width: 'minmax(110px, 1.2fr)',
    isEssential: true,
    cell: ({ id }) => (
      <PageLink to={webhookPath(id)} className="cut strong">
        {visibleControls(id)}
      </PageLink>
    ),
  },
  {
    id: 'url',
    header: 'Address',
    width: 'minmax(140px, 2fr)',
    cell: ({ url }) => (
      <span className="id">
        <code className="cut">{url}</code>
        <CopyButton text={url} what="Copy address" />
      </span>
    ),
  },
  {
    id: 'scheme',
    header: 'Signature',
    width: 'minmax(90px, 150px)',
    cell: (webhook) =>
      webhook.scheme === 'none' ? <span className="muted">not verified</span> : schemeOf(webhook),
  },
  {
    id: 'secret',
    header: 'Secret',
    width: 'minmax(80px, 120px)',
    cell: (webhook) =>
      webhook.scheme === 'none' ? (
        <span className="muted">–</span>
      ) : lacksSecret(webhook) ? (
        <Mark badge={{ word: 'Not set', glyph: 'cross', tone: 'bad' }} />
      ) : (
        <Mark badge={{ word: 'Set', glyph: 'disc', tone: 'good' }} />
      ),
  },
  {
    id: 'last',
    header: 'Last delivery',
    width: '104px',
    isEssential: true,
    cell: ({ lastDeliveryAt }) =>
      lastDeliveryAt === null ? <span className="muted">none</span> : <Time at={lastDeliveryAt} />,
  },
  {
    id: 'failed',
    header: 'Failed, 24 h',
    width: '96px',
    align: 'end',
    cell: ({ lastDay: { failed } }) => <Count n={failed} />,
  },
  {
    id: 'rejected',
    header: 'Rejected, 24 h',
    width: '104px',
    align: 'end',
    cell: (webhook) => <Count n={rejectedOf(webhook)} />,
  },
];

const Count = ({ n }: { readonly n: number }) =>
  n === 0 ? <span className="muted">0</span> : <span className="number">{n.toLocaleString('en')}</span>;

const example = `import { webhook, type WebhookEvent } from '@millrace/sdk';

export const stripeEvents = webhook({
  id: 'stripe',
  verify: { scheme: 'stripe', secret: 'STRIPE_WEBHOOK_SECRET' },
  onEvent: async ({ body }: WebhookEvent<{ type: string }>) => {},
});`;

/** The webhooks of the current version, with the addresses that other services send to. */
export function WebhooksPage() {
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const webhooks = useAsk('listWebhooks', {}, { live: 15_000 });
  return (
    <Page
      title="Webhooks"
      summary="Addresses at which other services start runs with signed requests."
      actions={
        <CodeExample
          operation="listWebhooks"
          input={{}}
          cli="webhooks list"
          sdk={
            "import { webhooks } from '@millrace/sdk';\n\nfor (const { id, url } of await webhooks.list()) console.log(id, url);"
          }
        />
      }
    >
      <WebhookTabs current="/webhooks" />
      {webhooks.error && !webhooks.data ? (
        <Failure error={webhooks.error} onRetry={() => void webhooks.refetch()} />
      ) : (
        <div className="edge">
          <Table
            label="Webhooks"
            columns={columns}
            rows={webhooks.data?.data ?? []}
            rowKey={({ id }) => id}
            hrefOf={({ id }) => pageHref(webhookPath(id))}
            onOpen={({ id }) => goTo(webhookPath(id))}
            isPending={webhooks.isPending}
            empty={
              <Empty title="No webhooks yet." action={<CodeBlock text={example} />}>
                Declare one next to your tasks, and deploy it. Its address is then listed here.
              </Empty>
            }
          />
        </div>
      )}
    </Page>
  );
}
