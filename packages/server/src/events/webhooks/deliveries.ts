import type { ListedWebhookDelivery, Operations, Query, Reply, WebhookDelivery } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { isStorable } from '../../db/storable.ts';
import { tryParse } from '../../json/foreign.ts';
import { pageOf, positionIn, requestedPage } from '../../page.ts';
import { notFound } from '../../problem.ts';
import { relatedColumns, whereabouts } from '../../runs/retrieve/retrieve.ts';
import { rawBodyOf } from './content.ts';
import { publicSenderId, type Delivery } from './delivery.ts';

interface ListRow {
  readonly id: string;
  readonly webhook: string;
  readonly sender_id: string;
  readonly bytes: number;
  readonly run_ids: readonly string[];
  readonly created_at: Date;
}

interface Row extends ListRow {
  /** When it was erased with its runs. */
  readonly erased_at: Date | null;
  readonly headers: string;
  readonly body: Buffer;
}

const columns = (sql: Queryable) =>
  sql`d.id, d.webhook, d.sender_id, octet_length(d.body) as bytes, d.run_ids, d.created_at`;

const summaryOf = (row: ListRow): Omit<ListedWebhookDelivery, 'runs'> => ({
  id: row.id,
  webhook: row.webhook,
  senderId: publicSenderId({ id: row.id, senderId: row.sender_id }),
  receivedAt: row.created_at.toISOString(),
  bytes: row.bytes,
});

/** Newest first. A cursor is the id of any delivery of the environment. `before` takes precedence over `after`. */
export async function listDeliveries(
  sql: Queryable,
  env: number,
  query: Query<Operations['listWebhookDeliveries']>,
): Promise<Reply<Operations['listWebhookDeliveries']>> {
  const requested = requestedPage(query);
  const { size, backward } = requested;
  const position = await positionIn(sql, sql`webhook_deliveries`, env, requested, 'a delivery');
  const beyond = position && sql`(d.created_at, d.id)`;
  const at = position && sql`(${position.created_at}::timestamptz, ${position.id}::text)`;
  const webhooks = query['filter[webhook]']?.filter(isStorable);
  const rows = await sql<ListRow[]>`
    select ${columns(sql)} from webhook_deliveries d
     where d.env = ${env}
       ${webhooks ? sql`and d.webhook = any(${webhooks}::text[])` : sql``}
       ${beyond && at ? (backward ? sql`and ${beyond} > ${at}` : sql`and ${beyond} < ${at}`) : sql``}
     order by ${backward ? sql`d.created_at, d.id` : sql`d.created_at desc, d.id desc`}
     limit ${size + 1}`;
  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map((row) => ({ ...summaryOf(row), runs: [...row.run_ids] })), pagination };
}

/** 404 unless the environment has the delivery. */
export async function findDelivery(sql: Queryable, env: number, id: string): Promise<Row> {
  const [row] = isStorable(id)
    ? await sql<Row[]>`
        select ${columns(sql)}, d.headers, d.body, d.erased_at from webhook_deliveries d where d.env = ${env} and d.id = ${id}`
    : [];
  if (!row) throw notFound('Delivery not found');
  return row;
}

export const deliveryOf = (row: Row): Delivery => ({
  id: row.id,
  webhook: row.webhook,
  senderId: row.sender_id,
  headers: headersOf(row),
  body: row.body,
  receivedAt: row.created_at,
});

const headersOf = ({ headers }: Row): Record<string, string> => tryParse(headers) as Record<string, string>;

/** A delivery with its runs in their current state. */
export async function retrieveDelivery(sql: Queryable, env: number, id: string): Promise<WebhookDelivery> {
  const row = await findDelivery(sql, env, id);
  const runs = await sql<{ id: string; task: string; status: string }[]>`
    select ${relatedColumns(sql)} from runs f ${whereabouts(sql)}
     where f.env = ${env} and f.id = any(${[...row.run_ids]}::text[]) order by f.id`;
  return {
    ...summaryOf(row),
    headers: headersOf(row),
    ...rawBodyOf(row.body),
    runs: runs.map((run) => ({ id: run.id, taskIdentifier: run.task, status: run.status })),
  };
}
