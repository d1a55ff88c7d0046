import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { WebhookTabs } from './tabs.tsx';
import './webhooks.css';

/** The deliveries of all webhooks. */
export const DeliveriesPage = () => (
  <Page title="Webhook deliveries" summary="Requests that webhooks accepted. They are retained for 30 days.">
    <WebhookTabs current="/webhook-deliveries" />
    <DeliveryList
      empty={
        <Empty title="No deliveries yet." command="npx millrace webhooks send <webhook>">
          Accepted requests are listed here.
        </Empty>
      }
    />
  </Page>
);
