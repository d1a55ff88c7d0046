import { lastMoment, type Operations, type Query, type Reply, type SessionStatus } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { requestedPageById, pageOf } from '../page.ts';
import { listedOf, type SessionRow } from './row.ts';

/** Lists sessions, newest first. A cursor is the id of a session: ids sort by time. */
export async function listSessions(
  sql: Queryable,
  env: number,
  query: Query<Operations['listSessions']>,
  at: number,
): Promise<Reply<Operations['listSessions']>> {
  const requested = requestedPageById(query, { pattern: /^session_\w{1,64}$/, what: 'a session' });
  const { size, cursor, backward } = requested;
  const period = query['filter[createdAt][period]'];
  const from = period === undefined ? query['filter[createdAt][from]'] : new Date(at - period);
  const to = period === undefined ? query['filter[createdAt][to]'] : undefined;
  const types = storableTexts(query['filter[type]']);
  const tags = storableTexts(query['filter[tags]']);
  const tasks = storableTexts(query['filter[taskIdentifier]']);
  const [externalId] = storableTexts([query['filter[externalId]'] ?? '']) ?? [];
  const statuses = query['filter[status]'] ?? [];

  const rows = await sql<SessionRow[]>`
    select s.* from sessions s
     where s.env = ${env}
       ${types ? sql`and s.type = any(${types}::text[])` : sql``}
       ${tags ? sql`and s.tags && ${tags}::text[]` : sql``}
       ${tasks ? sql`and s.task = any(${tasks}::text[])` : sql``}
       ${query['filter[externalId]'] === undefined ? sql`` : sql`and s.external_id = ${externalId ?? ''}`}
       ${statuses.length > 0 ? sql`and (${anyOf(sql, statuses, new Date(at))})` : sql``}
       ${from ? sql`and s.created_at >= ${storable(from)}` : sql``}
       ${to ? sql`and s.created_at <= ${storable(to)}` : sql``}
       ${cursor === undefined ? sql`` : backward ? sql`and s.id > ${cursor}` : sql`and s.id < ${cursor}`}
     order by ${backward ? sql`s.id` : sql`s.id desc`}
     limit ${size + 1}`;

  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map(listedOf), pagination };
}

/** Texts that cannot be stored match nothing. */
const storableTexts = (list: readonly string[] | undefined): readonly string[] | undefined =>
  list?.filter((text) => !text.includes('\u0000'));

const storable = (date: Date): Date => new Date(Math.min(Math.max(date.getTime(), 0), lastMoment));

function anyOf(sql: Queryable, statuses: readonly SessionStatus[], now: Date) {
  const tests: Readonly<Record<SessionStatus, ReturnType<typeof sql>>> = {
    ACTIVE: sql`s.closed_at is null and (s.expires_at is null or s.expires_at > ${now})`,
    CLOSED: sql`s.closed_at is not null`,
    EXPIRED: sql`s.closed_at is null and s.expires_at <= ${now}`,
  };
  return statuses.map((status) => tests[status]).reduce((all, test) => sql`${all} or ${test}`);
}
