import { retryOnDeadlock } from '../db/retry.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import type { Log } from '../logger.ts';
import type { EndpointRow } from './endpoint.ts';

/**
 * Holds an endpoint that is being switched off against those who tell it of a fact (notify_endpoints) or begin a delivery anew: what they
 * wrote before is there to be given up, and whoever comes later finds it switched off.
 */
export const holdEndpoint = async (tx: Queryable, id: string): Promise<void> =>
  void (await tx`select from notification_endpoints where id = ${id} for update`);

/** What an endpoint that is switched off was still to get. It can be replayed later. */
export const giveUpPending = async (tx: Queryable, endpoint: string): Promise<void> =>
  void (await tx`
    update notification_deliveries set due = null, failure = 'The endpoint was disabled'
     where endpoint_id = ${endpoint} and due is not null`);

const reasons = {
  failing: 'nothing was accepted for five days',
  gone: 'it answered 410 Gone',
} as const;

export interface Disable {
  readonly endpoint: Pick<EndpointRow, 'id' | 'env' | 'url'>;
  readonly by: keyof typeof reasons;
  readonly now: Date;
}

/** Switches an endpoint off that is of no use, and gives notice of it: in the log, and to the environment's other endpoints. */
export async function disableEndpoint(sql: Sql, log: Log, { endpoint, by, now }: Disable): Promise<void> {
  const { id, env, url } = endpoint;
  const act = async (tx: Queryable): Promise<boolean> => {
    await holdEndpoint(tx, id);
    const { count } = await tx`
      update notification_endpoints set disabled_at = ${now}, disabled_by = ${by}
       where id = ${id} and disabled_at is null`;
    if (count === 0) return false;
    await giveUpPending(tx, id);
    const data = JSON.stringify({ id, url: originOf(url), disabledBy: by, reason: reasons[by] });
    await tx`select notify_endpoints(${env}, ${now}, 'endpoint.disabled', ${data}::jsonb)`;
    return true;
  };
  // Two that are switched off at once tell each other.
  const disabled = await retryOnDeadlock(() => sql.begin(act));
  if (disabled) log.warn('endpoint.disabled', { env, endpoint: id, reason: reasons[by] });
}

/** Paths and queries of such addresses are often secrets. */
const originOf = (url: string): string => new URL(url).origin;
