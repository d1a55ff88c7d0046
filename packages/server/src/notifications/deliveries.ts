import type { DeliveryStatus, NotificationDelivery, Operations, Query, Reply } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { isStorable } from '../db/storable.ts';
import { requestedPage, pageOf, positionIn } from '../page.ts';
import { notFound } from '../problem.ts';
import { bodyOf, notificationColumns, type NotificationRow } from './body.ts';

interface DeliveryRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly notification_id: string;
  readonly type: string;
  readonly due: Date | null;
  readonly attempts: number;
  readonly delivered_at: Date | null;
  readonly attempted_at: Date | null;
  readonly response_status: number | null;
  readonly failure: string | null;
  readonly created_at: Date;
}

const columns = (sql: Queryable) => sql`
  d.id, d.endpoint_id, d.notification_id, n.type, d.due, d.attempts, d.delivered_at, d.attempted_at, d.response_status, d.failure,
  d.created_at`;

const statusOf = (row: DeliveryRow): DeliveryStatus =>
  row.delivered_at ? 'DELIVERED' : row.due ? 'PENDING' : 'FAILED';

const deliveryOf = (row: DeliveryRow): NotificationDelivery => ({
  id: row.id,
  endpointId: row.endpoint_id,
  messageId: row.notification_id,
  type: row.type,
  status: statusOf(row),
  attempts: row.attempts,
  createdAt: row.created_at.toISOString(),
  dueAt: row.due?.toISOString() ?? null,
  deliveredAt: row.delivered_at?.toISOString() ?? null,
  lastAttemptAt: row.attempted_at?.toISOString() ?? null,
  responseStatus: row.response_status,
  failure: row.failure,
});

const notThere = () => notFound('Delivery not found');

/** Newest first. A cursor is the id of any delivery of the environment. `before` takes precedence over `after`. */
export async function listDeliveries(
  sql: Queryable,
  env: number,
  query: Query<Operations['listNotificationDeliveries']>,
): Promise<Reply<Operations['listNotificationDeliveries']>> {
  const requested = requestedPage(query);
  const { size, backward } = requested;
  const position = await positionIn(sql, sql`notification_deliveries`, env, requested, 'a delivery');
  const { 'filter[endpoint]': endpoints, 'filter[type]': types, 'filter[status]': statuses = [] } = query;
  const rows = await sql<DeliveryRow[]>`
    select ${columns(sql)}
      from notification_deliveries d join notifications n on n.id = d.notification_id
     where d.env = ${env}
       ${endpoints ? sql`and d.endpoint_id = any(${endpoints.filter(isStorable)}::text[])` : sql``}
       ${types ? sql`and n.type = any(${types.filter(isStorable)}::text[])` : sql``}
       ${
         statuses.length > 0
           ? sql`and case when d.delivered_at is not null then 'DELIVERED' when d.due is not null then 'PENDING' else 'FAILED' end
                   = any(${statuses}::text[])`
           : sql``
       }
       ${
         position
           ? backward
             ? sql`and (d.created_at, d.id) > (${position.created_at}::timestamptz, ${position.id}::text)`
             : sql`and (d.created_at, d.id) < (${position.created_at}::timestamptz, ${position.id}::text)`
           : sql``
       }
     order by ${backward ? sql`d.created_at, d.id` : sql`d.created_at desc, d.id desc`}
     limit ${size + 1}`;
  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map(deliveryOf), pagination };
}

export async function retrieveDelivery(
  sql: Queryable,
  env: number,
  id: string,
): Promise<Reply<Operations['retrieveNotificationDelivery']>> {
  const [row] = isStorable(id)
    ? await sql<(DeliveryRow & NotificationRow)[]>`
        select ${columns(sql)}, ${notificationColumns(sql)}
          from notification_deliveries d
          join notifications n on n.id = d.notification_id
          join environments e on e.id = d.env
          join projects p on p.id = e.project_id
         where d.env = ${env} and d.id = ${id}`
    : [];
  if (!row) throw notThere();
  return { ...deliveryOf(row), body: bodyOf(row) };
}
