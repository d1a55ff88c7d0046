import type { Operations } from '@millrace/contract';

/**
 * Operations that have a second effect, or fail, if they are executed again by a server that does not know the request's idempotency key.
 * Each server remembers keys in its own memory, except those of runs and batches, which are in the database.
 */
const once: ReadonlySet<keyof Operations> = new Set<keyof Operations>([
  'backfillSchedule',
  'continueSession',
  'createAlert',
  'createBranch',
  'createBulkAction',
  'createErrorRule',
  'createNotificationEndpoint',
  'createVariable',
  'importVariables',
  'replayNotificationDelivery',
  'replayWebhookDelivery',
  'rollBackVariables',
  'sendWebhook',
  'splitError',
  'testNotificationEndpoint',
]);

/** Whether a call may be repeated on any server for as long as an outage lasts. */
export const isRepeatable = (operation: keyof Operations): boolean => !once.has(operation);
