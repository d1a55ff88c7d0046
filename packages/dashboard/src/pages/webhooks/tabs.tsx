import { PageTabs } from '../../parts/page-tabs.tsx';

const tabs = [
  { label: 'Webhooks', to: '/webhooks' },
  { label: 'Deliveries', to: '/webhook-deliveries' },
] as const;

/** Links between the list of webhooks and the deliveries of all of them. */
export const WebhookTabs = ({ current }: { readonly current: (typeof tabs)[number]['to'] }) => (
  <PageTabs label="Webhooks" tabs={tabs.map((tab) => ({ ...tab, isCurrent: tab.to === current }))} />
);
