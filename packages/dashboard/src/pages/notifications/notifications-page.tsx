import { Navigate, useParams } from '@tanstack/react-router';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentParams, useEnvironmentPath } from '../../api/environment.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { Page } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { AlertsTab } from './alerts-tab.tsx';
import { DeliveriesTab } from './deliveries-tab.tsx';
import { EndpointsTab } from './endpoints-tab.tsx';
import './notifications-page.css';

/** Endpoints, alerts and deliveries of the environment. */
export function NotificationsPage() {
  const params = useEnvironmentPath();
  const [{ tab = 'endpoints' }, setSearch] = useSearchTexts();
  const endpoints = useAsk('listNotificationEndpoints', { params }, { live: 15_000 });
  const alerts = useAsk('listAlerts', { params }, { live: 15_000 });
  const firing = alerts.data?.data.filter(({ state }) => state === 'FIRING').length;
  return (
    <Page
      title="Notifications and alerts"
      summary={
        firing === undefined ? (
          ' '
        ) : firing === 0 ? (
          'No alert is firing.'
        ) : (
          <span className="tone-bad strong">{countText(firing, 'alert')} firing</span>
        )
      }
      actions={
        <CodeExample
          operation={tab === 'alerts' ? 'listAlerts' : 'listNotificationEndpoints'}
          input={{ params }}
          cli={
            tab === 'alerts'
              ? 'alerts list'
              : tab === 'deliveries'
                ? 'notifications deliveries'
                : 'notifications list'
          }
          sdk={sdkOf(tab)}
        />
      }
    >
      <Tabs
        label="Endpoints, alerts, deliveries"
        selected={tab}
        onSelect={(next) =>
          setSearch(
            {
              tab: next === 'endpoints' ? undefined : next,
              panel: undefined,
              status: undefined,
              endpoint: undefined,
              type: undefined,
            },
            { push: true },
          )
        }
        tabs={[
          {
            id: 'endpoints',
            label: 'Endpoints',
            count: endpoints.data?.data.length,
            content: <EndpointsTab />,
          },
          { id: 'alerts', label: 'Alerts', count: alerts.data?.data.length, content: <AlertsTab /> },
          { id: 'deliveries', label: 'Deliveries', content: <DeliveriesTab /> },
        ]}
      />
    </Page>
  );
}

function sdkOf(tab: string): string {
  if (tab === 'alerts')
    return `import { alerts } from '@millrace/sdk';\n\nconst firing = (await alerts.list()).filter(({ state }) => state === 'FIRING');`;
  const notifications = `import { notifications } from '@millrace/sdk';\n\n`;
  return tab === 'deliveries'
    ? `${notifications}for await (const { id, failure } of notifications.listDeliveries({ status: ['FAILED'] })) {\n  console.log(id, failure);\n}`
    : `${notifications}const endpoints = await notifications.listEndpoints();`;
}

const tabs: readonly (readonly [prefix: string, tab: string])[] = [
  ['delivery_', 'deliveries'],
  ['alert_', 'alerts'],
  ['endpoint_', 'endpoints'],
];

/** The address of one endpoint, alert or delivery: its tab, with its panel open. */
export function NotificationLink() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { project, env } = useEnvironmentParams();
  const tab = tabs.find(([prefix]) => id.startsWith(prefix))?.[1];
  return (
    <Navigate
      to={`/p/${encodeURIComponent(project)}/${encodeURIComponent(env)}/notifications` as '/'}
      search={{ tab, panel: tab && id } as never}
      replace
    />
  );
}
