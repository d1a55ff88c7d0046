import type { ListedWebhookDelivery, Operations, Query, Reply, WebhookDelivery } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { isStorable } from '../../db/storable.ts';
import { tryParse } from '../../json/foreign.ts';
import { pageOf, positionIn, requestedPage } from '../../page.ts';
import { notFound } from '../../problem.ts';
import { liveStatus, relatedColumns, whereabouts } from '../../runs/retrieve/retrieve.ts';
import { rawBodyOf } from './content.ts';
import { publicSenderId, type Delivery } from './delivery.ts';

interface ListRow {
  readonly id: string;
  readonly webhook: string;
  readonly sender_id: string;
  readonly bytes: number;
  readonly repeated: number;
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
  sql`d.id, d.webhook, d.sender_id, octet_length(d.body) as bytes, d.repeated, d.run_ids, d.created_at`;

const summaryOf = (row: ListRow): Omit<ListedWebhookDelivery, 'runs' | 'status'> => ({
  id: row.id,
  webhook: row.webhook,
  senderId: publicSenderId({ id: row.id, senderId: row.sender_id }),
  receivedAt: row.created_at.toISOString(),
  bytes: row.bytes,
  repeated: row.repeated,
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
  const { 'filter[senderId]': senderId, 'filter[from]': from, 'filter[to]': to } = query;
  const sender = senderId !== undefined && isStorable(senderId) ? senderId : undefined;
  if (senderId !== undefined && sender === undefined) return { data: [], pagination: {} };
  const rows = await sql<ListRow[]>`
    select ${columns(sql)} from webhook_deliveries d
     where d.env = ${env}
       ${webhooks ? sql`and d.webhook = any(${webhooks}::text[])` : sql``}
       ${sender === undefined ? sql`` : sentAs(sql, env, sender)}
       ${from ? sql`and d.created_at >= ${from}` : sql``}
       ${to ? sql`and d.created_at <= ${to}` : sql``}
       ${beyond && at ? (backward ? sql`and ${beyond} > ${at}` : sql`and ${beyond} < ${at}`) : sql``}
     order by ${backward ? sql`d.created_at, d.id` : sql`d.created_at desc, d.id desc`}
     limit ${size + 1}`;
  const { page, pagination } = pageOf(rows, requested);
  const statuses = await readStatuses(
    sql,
    env,
    page.flatMap(({ run_ids: ids }) => ids.slice(-1)),
  );
  const data = page.map((row) => ({
    ...summaryOf(row),
    runs: [...row.run_ids],
    status: statuses.get(row.run_ids.at(-1) ?? '') ?? null,
  }));
  return { data, pagination };
}

/** The primary key has the webhook before the sender's id, so all webhooks are named. A webhook without ids has those of its deliveries. */
const sentAs = (sql: Queryable, env: number, sender: string): Fragment => sql`
  and d.sender_id = ${sender} and d.id <> d.sender_id and d.webhook = any(array(select w.id from webhooks w where w.env = ${env}))`;

/** The status of each of these runs that is stored. */
async function readStatuses(
  sql: Queryable,
  env: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; status: string }[]>`
    select f.id, ${liveStatus(sql)} as status from runs f ${whereabouts(sql)}
     where f.env = ${env} and f.id = any(${[...ids]}::text[])`;
  return new Map(rows.map(({ id, status }) => [id, status]));
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
