import { alerts, errors, notifications } from '@millrace/sdk';
import type { Shop } from '../shop.ts';

/** Endpoints, one of which fails, and alerts. */
export async function addNotifications({ services }: Shop): Promise<void> {
  await notifications.createEndpoint({
    url: services.address('hooks/operations'),
    types: ['error.*', 'deployment.*', 'schedule.missed', 'alert.*'],
    description: 'Operations',
  });
  await notifications.createEndpoint({
    url: services.address('hooks/legacy-crm'),
    types: ['run.failed', 'error.new'],
    description: 'The old CRM, no longer maintained',
  });
  const chat = await notifications.createEndpoint({ kind: 'slack', url: services.address('hooks/chat') });
  await alerts.create({ kind: 'error.new', name: 'New errors', threshold: 3, window: '15m', quiet: '10m' });
  await alerts.create({ kind: 'error.regressed', name: 'Errors that came back', endpoints: [chat.id] });
  await alerts.create({
    kind: 'task.failureRate',
    name: 'Payments',
    task: 'charge-card',
    threshold: 10,
    minRuns: 10,
    window: '1m',
  });
  await alerts.create({ kind: 'queue.age', name: 'Pictures wait', queue: 'images', threshold: 120 });
  await alerts.create({ kind: 'schedule.missed', name: 'Missed ticks' });
  await errors.rules.create({ type: 'TypeError', message: 'fetch failed*', groupKey: 'network' });
}
