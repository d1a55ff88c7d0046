import type { EventStatus, Operations, Query, Reply } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { isStorable } from '../db/storable.ts';
import { requestedPage, pageOf, positionIn } from '../page.ts';
import { summaryOf, type EventRow } from './row.ts';

type ListRow = Omit<EventRow, 'env' | 'event'>;

/** Events, newest first. A cursor is the id of any event of the environment. `before` takes precedence over `after`. */
export async function listEvents(
  sql: Queryable,
  env: number,
  query: Query<Operations['listEvents']>,
): Promise<Reply<Operations['listEvents']>> {
  const requested = requestedPage(query);
  const { size, backward } = requested;
  const position = await positionIn(sql, sql`events`, env, requested, 'an event');
  const beyond = position && sql`(e.created_at, e.id)`;
  const at = position && sql`(${position.created_at}::timestamptz, ${position.id}::text)`;
  const names = query['filter[name]']?.filter(isStorable);
  const statuses = query['filter[status]'] ?? [];
  const from = query['filter[from]'];
  const to = query['filter[to]'];

  const rows = await sql<ListRow[]>`
    select e.id, e.name, e.deliver_at, e.delivered_at, e.canceled_at, e.failure, e.run_ids, e.replay_of, e.created_at
      from events e
     where e.env = ${env}
       ${names ? sql`and e.name = any(${names}::text[])` : sql``}
       ${from ? sql`and e.created_at >= ${from}` : sql``}
       ${to ? sql`and e.created_at <= ${to}` : sql``}
       ${statuses.length > 0 ? sql`and (${anyOf(sql, statuses)})` : sql``}
       ${beyond && at ? (backward ? sql`and ${beyond} > ${at}` : sql`and ${beyond} < ${at}`) : sql``}
     order by ${backward ? sql`e.created_at, e.id` : sql`e.created_at desc, e.id desc`}
     limit ${size + 1}`;

  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map((row) => ({ ...summaryOf(row), runCount: row.run_ids.length })), pagination };
}

function anyOf(sql: Queryable, statuses: readonly EventStatus[]) {
  const tests: Readonly<Record<EventStatus, ReturnType<typeof sql>>> = {
    PENDING: sql`e.delivered_at is null and e.canceled_at is null and e.failed_at is null`,
    DELIVERED: sql`e.run_ids <> '{}'`,
    UNMATCHED: sql`e.delivered_at is not null and e.run_ids = '{}'`,
    CANCELED: sql`e.canceled_at is not null`,
    FAILED: sql`e.failed_at is not null`,
  };
  return statuses.map((status) => tests[status]).reduce((all, test) => sql`${all} or ${test}`);
}
