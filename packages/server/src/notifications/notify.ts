import { randomUUID } from 'node:crypto';
import type { Queryable } from '../db/connect.ts';

export interface NewNotification {
  readonly env: number;
  readonly at: Date;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Endpoint ids; without them, all endpoints subscribed to the type. */
  readonly endpoints?: readonly string[] | undefined;
}

const newHex = (): string => randomUUID().replaceAll('-', '');

/**
 * Stores a notification and its deliveries, in the transaction that it reports. Returns the ids of the deliveries. If no enabled endpoint
 * should receive it, nothing is stored and the list is empty.
 */
export async function notify(
  tx: Queryable,
  { env, at, type, data, endpoints }: NewNotification,
): Promise<string[]> {
  const id = `msg_${newHex()}`;
  const rows = await tx<{ id: string }[]>`
    with chosen as materialized (
      -- locked, so that a concurrent deletion does not make the transaction fail
      select e.id from notification_endpoints e
       where e.env = ${env} and e.disabled_at is null
         and ${
           endpoints
             ? tx`e.id = any(${endpoints}::text[])`
             : tx`e.types && ${['*', `${type.split('.')[0] ?? ''}.*`, type]}::text[]`
         }
       order by e.id for key share
    ), notification as (
      insert into notifications (id, env, type, at, data)
      select ${id}, ${env}, ${type}, ${at}, ${JSON.stringify(data)}::text::jsonb where exists (select from chosen) returning id
    )
    insert into notification_deliveries (id, env, endpoint_id, notification_id, due, created_at)
    select 'delivery_' || replace(gen_random_uuid()::text, '-', ''), ${env}, c.id, f.id, ${at}, ${at} from chosen c cross join notification f
    returning id`;
  return rows.map((row) => row.id);
}
