import type { NotificationDelivery } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import { retrieveDelivery } from './deliveries.ts';
import { findEndpoint } from './endpoint.ts';
import { notify } from './notify.ts';

/** Sends a test message to an endpoint like any notification: stored, and retried until it is accepted. */
export async function sendTest(
  sql: Sql,
  { env, id, now }: { readonly env: number; readonly id: string; readonly now: Date },
): Promise<NotificationDelivery> {
  await findEndpoint(sql, env, id);
  const [delivery] = await notify(sql, {
    env,
    at: now,
    type: 'endpoint.test',
    data: { id },
    endpoints: [id],
  });
  if (delivery === undefined)
    throw new Problem('endpoint_disabled', 'The endpoint is disabled: enable it first.', {}, false);
  const { body: _, ...response } = await retrieveDelivery(sql, env, delivery);
  return response;
}
