import type { EventStatus, Operations, Query, Reply } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { badRequest } from '../problem.ts';
import { summaryOf, type EventRow } from './row.ts';

type ListRow = Omit<EventRow, 'env' | 'event'>;

/** Events, newest first. A cursor is the id of any event of the environment. `before` wins over `after`. */
export async function listEvents(
  sql: Queryable,
  env: number,
  query: Query<Operations['listEvents']>,
): Promise<Reply<Operations['listEvents']>> {
  const size = query['page[size]'];
  const backward = query['page[before]'] !== undefined;
  const parameter = backward ? 'page[before]' : 'page[after]';
  const cursor = query[parameter];
  const position = cursor === undefined ? undefined : await positionOf(sql, env, cursor, parameter);
  const beyond = position && sql`(e.created_at, e.id)`;
  const at = position && sql`(${position.created_at}::timestamptz, ${position.id}::text)`;
  const names = query['filter[name]']?.filter((name) => !name.includes('\0'));
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

  const page = rows.slice(0, size);
  if (backward) page.reverse();
  const more = rows.length > size;
  const first = page[0];
  const last = page.at(-1);
  return {
    data: page.map((row) => ({ ...summaryOf(row), runCount: row.run_ids.length })),
    pagination: {
      ...(last && (backward || more) ? { next: last.id } : {}),
      ...(first && (backward ? more : position !== undefined) ? { previous: first.id } : {}),
    },
  };
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

async function positionOf(sql: Queryable, env: number, id: string, parameter: string) {
  const [row] = id.includes('\0')
    ? []
    : await sql<
        { id: string; created_at: Date }[]
      >`select id, created_at from events where env = ${env} and id = ${id}`;
  if (row) return row;
  const message = 'not the id of an event of this environment; send one as the pagination of a page gave it';
  throw badRequest('Query Error', [{ code: 'custom', message, path: [parameter] }]);
}
