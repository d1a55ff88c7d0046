import { retryOnConflict } from '../db/retry.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import type { Log } from '../logger.ts';
import type { EndpointRow } from './endpoint.ts';

/**
 * Locks an endpoint that is being disabled against `notify_endpoints` and replays. Deliveries created before are failed by
 * `failPending`; later transactions see the endpoint disabled.
 */
export const lockEndpoint = async (tx: Queryable, id: string): Promise<void> =>
  void (await tx`select from notification_endpoints where id = ${id} for update`);

/** Fails the pending deliveries of a disabled endpoint. They can be replayed later. */
export const failPending = async (tx: Queryable, endpoint: string): Promise<void> =>
  void (await tx`
    update notification_deliveries set due = null, failure = 'The endpoint was disabled'
     where endpoint_id = ${endpoint} and due is not null`);

const reasons = {
  failing: 'no delivery was accepted for five days',
  gone: 'it returned 410 Gone',
} as const;

export interface Disable {
  readonly endpoint: Pick<EndpointRow, 'id' | 'env' | 'url'>;
  readonly by: keyof typeof reasons;
  readonly now: Date;
}

/** Disables a failing endpoint, logs it, and notifies the environment's other endpoints. */
export async function disableEndpoint(sql: Sql, log: Log, { endpoint, by, now }: Disable): Promise<void> {
  const { id, env, url } = endpoint;
  const act = async (tx: Queryable): Promise<boolean> => {
    await lockEndpoint(tx, id);
    const { count } = await tx`
      update notification_endpoints set disabled_at = ${now}, disabled_by = ${by}
       where id = ${id} and disabled_at is null`;
    if (count === 0) return false;
    await failPending(tx, id);
    const data = JSON.stringify({ id, url: originOf(url), disabledBy: by, reason: reasons[by] });
    await tx`select notify_endpoints(${env}, ${now}, 'endpoint.disabled', ${data}::jsonb)`;
    return true;
  };
  // Two endpoints that are disabled at the same time notify each other, which may deadlock.
  const disabled = await retryOnConflict(() => sql.begin(act));
  if (disabled) log.warn('endpoint.disabled', { env, endpoint: id, reason: reasons[by] });
}

/** Paths and queries of webhook URLs are often secret. */
const originOf = (url: string): string => new URL(url).origin;
