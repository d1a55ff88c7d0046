import type { NotificationDelivery } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import { retrieveDelivery } from './deliveries.ts';

/** Restarts a delivery immediately, with all its attempts. The message id does not change. */
export async function replayDelivery(
  sql: Sql,
  { env, id, now }: { readonly env: number; readonly id: string; readonly now: Date },
): Promise<NotificationDelivery> {
  await retrieveDelivery(sql, env, id);
  const { count } = await sql`
    with enabled as materialized (
      select e.id from notification_deliveries d join notification_endpoints e on e.id = d.endpoint_id
       where d.env = ${env} and d.id = ${id} and e.disabled_at is null
         -- locked, so that a transaction that disables the endpoint waits, and then marks this delivery as failed
         for key share of e
    )
    update notification_deliveries d set due = ${now}, attempts = 0, delivered_at = null, failure = null, response_status = null
      from enabled e
     where d.env = ${env} and d.id = ${id} and e.id = d.endpoint_id`;
  if (count === 0)
    throw new Problem('endpoint_disabled', 'The endpoint is disabled: enable it first.', {}, false);
  const { body: _, ...delivery } = await retrieveDelivery(sql, env, id);
  return delivery;
}
