import type { ErrorGroup, Operations, Query, Reply } from '@millrace/contract';
import type { Queryable, Sql } from '../../db/connect.ts';
import { isStorable } from '../../db/storable.ts';
import { requestedPage, pageOf, unknownCursor, type RequestedPage } from '../../page.ts';
import { isCounted, type ErrorFilter } from './filters.ts';
import { findGroups } from './find.ts';
import type { GroupRow } from './fetch-page.ts';
import { orders, type Position, type Sort } from './order.ts';
import { readRange, type Ages } from '../counts/range.ts';
import { fingerprintsOf } from '../merge/fingerprints.ts';
import { readOwnerFilter } from '../ownership/filter.ts';
import { ownershipOf } from '../ownership/read.ts';
import { isErrorId } from './retrieve.ts';
import { trendsOf } from './trend.ts';
import { tally } from '../record/tally.ts';

export interface ErrorList {
  readonly env: number;
  readonly query: Query<Operations['listErrors']>;
  readonly now: Date;
  readonly ages?: Ages;
}

type Page = Reply<Operations['listErrors']>;

/**
 * Lists the groups that occurred in a range (without one: ever), with their counts, in the order of `sort`. `before` takes precedence over
 * `after`. A cursor is the id of any group of the environment, whether or not it matches the filters. The page begins next to the current
 * position of that group. Any other text is rejected with 400.
 */
export async function listErrorGroups(sql: Sql, list: ErrorList): Promise<Page> {
  await tally(sql, list.env);
  return sql.moment((moment) => readPage(moment, list));
}

async function readPage(sql: Queryable, { env, query, now, ages }: ErrorList): Promise<Page> {
  const requested = requestedPage(query);
  const { cursor, backward } = requested;
  const filter = await readFilter(sql, env, query, now, ages);
  const { sort } = query;
  const position =
    cursor === undefined ? undefined : await positionOf(sql, env, filter, { ...requested, sort, cursor });
  if (filter === undefined) return { data: [], pagination: {} };

  const rows = await findGroups(sql, filter, { sort, position, backward, limit: requested.size + 1 });
  const { page, pagination } = pageOf(rows, requested);
  const ids = page.map(({ id }) => id);
  const trends = query.trend === undefined ? [] : await trendsOf(sql, env, ids, query.trend, now);
  const fingerprints = query.fingerprints === 'true' ? await fingerprintsOf(sql, env, ids) : undefined;
  const ownership = await ownershipOf(sql, env, page);
  return {
    data: page.map((row, index) => ({
      ...itemOf(row),
      ownership: ownership[index] ?? unowned,
      ...(trends[index] && { trend: trends[index] }),
      ...(fingerprints && { fingerprints: fingerprints.get(row.id) ?? [row.fingerprint] }),
    })),
    pagination,
  };
}

/** Undefined if no group can match: an unknown version, or a text that cannot be stored. */
async function readFilter(
  sql: Queryable,
  env: number,
  query: ErrorList['query'],
  now: Date,
  ages: Ages | undefined,
): Promise<ErrorFilter | undefined> {
  const {
    'filter[search]': search = '',
    'filter[taskIdentifier]': tasks = [],
    'filter[status]': statuses = [],
  } = query;
  const storable = tasks.filter(isStorable);
  if (!isStorable(search) || (tasks.length > 0 && storable.length === 0)) return undefined;
  const names = query['filter[version]'] ?? [];
  const versions = names.length === 0 ? null : await versionIds(sql, env, names.filter(isStorable));
  if (versions?.length === 0) return undefined;
  const range = readRange(
    { from: query['filter[from]'], to: query['filter[to]'], period: query['filter[period]'] },
    now,
    ages,
  );
  const owners = await readOwnerFilter(sql, env, query['filter[owner]'] ?? []);
  return { env, tasks: storable, statuses, search, versions, range, now, ...(owners && { owners }) };
}

async function versionIds(sql: Queryable, env: number, names: readonly string[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from versions where env = ${env} and version = any(${names})`;
  return rows.map((row) => row.id);
}

interface Cursor extends RequestedPage {
  readonly sort: Sort;
  readonly cursor: string;
}

async function positionOf(
  sql: Queryable,
  env: number,
  filter: ErrorFilter | undefined,
  requested: Cursor,
): Promise<Position> {
  const { sort, cursor } = requested;
  // Counts of a range are computed later, for all groups at once.
  const key = sort === 'count' && filter && isCounted(filter) ? sql`g.number` : orders[sort].column(sql);
  const [row] = isErrorId(cursor)
    ? await sql<Position[]>`
        select g.id, ${key} as key from error_groups x
          join error_groups g on g.env = x.env and g.id = coalesce(x.merged_into, x.id)
         where x.env = ${env} and x.id = ${cursor}`
    : [];
  if (row) return row;
  throw unknownCursor(requested, 'the id of an error group of this environment');
}

const unowned = { owner: null, source: null, userId: null, ticketUrl: null };

const itemOf = (row: GroupRow): Omit<ErrorGroup, 'ownership'> => ({
  id: row.id,
  fingerprint: row.fingerprint,
  taskIdentifier: row.task,
  errorType: row.type,
  errorMessage: row.message,
  ...(row.sample !== null && { sampleMessage: row.sample }),
  status: row.lapsed ? 'unresolved' : row.status,
  count: row.count,
  firstSeen: row.first_seen.toISOString(),
  lastSeen: row.last_seen.toISOString(),
  resolvedAt: row.resolved_at?.toISOString() ?? null,
  ignoredUntil: row.lapsed ? null : (row.ignored_until?.toISOString() ?? null),
});
