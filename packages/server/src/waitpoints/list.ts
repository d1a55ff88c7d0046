import type { Operations, Query, Reply } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import { isStorable } from '../db/storable.ts';
import { requestedPageById, pageOf } from '../page.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { storedKey } from '../runs/create/idempotency-key.ts';
import { detailColumns, detailsOf, type DetailedRow } from './details.ts';
import { tokenResponse } from './row.ts';

/** The runs of each token in a list with details. */
const maxRuns = 3;

/** Tokens, newest first, in id order; ids begin with the creation time. `before` takes precedence over `after`. */
export async function listTokens(
  { sql, clock }: Engine,
  masterKey: MasterKey,
  env: number,
  query: Query<Operations['listWaitpointTokens']>,
  baseUrl: string,
  mayReadRuns: boolean,
): Promise<Reply<Operations['listWaitpointTokens']>> {
  const requested = requestedPageById(query, { pattern: /^waitpoint_[0-9a-z]{1,60}$/, what: 'a token' });
  const { size, cursor, backward } = requested;
  const period = query['filter[createdAt][period]'];
  const from = period === undefined ? query['filter[createdAt][from]'] : new Date(clock.now() - period);
  const to = period === undefined ? query['filter[createdAt][to]'] : undefined;
  const statuses = query['filter[status]'];
  const tags = query['filter[tags]']?.filter(isStorable);
  const key = query['filter[idempotencyKey]'];
  const hasDetails = query.details === 'true';
  const found = sql`
    select w.* from waitpoints w
     where w.env = ${env}
       ${statuses ? sql`and w.status = any(${statuses}::text[])` : sql``}
       ${tags ? sql`and w.tags && ${tags}::text[]` : sql``}
       ${key === undefined ? sql`` : sql`and w.idempotency_key = ${isStorable(key) ? storedKey(key) : ''}`}
       ${from ? sql`and w.created_at >= ${from}` : sql``}
       ${to ? sql`and w.created_at <= ${to}` : sql``}
       ${cursor === undefined ? sql`` : backward ? sql`and w.id > ${cursor}` : sql`and w.id < ${cursor}`}
     order by w.id ${backward ? sql`asc` : sql`desc`} limit ${size + 1}`;
  const rows = hasDetails
    ? await sql<DetailedRow[]>`
        select w.*, ${detailColumns(sql, maxRuns)} from (${found}) w order by w.id ${backward ? sql`asc` : sql`desc`}`
    : await sql<DetailedRow[]>`${found}`;
  const { page, pagination } = pageOf(rows, requested);
  const data = page.map((row) => ({
    ...tokenResponse(masterKey, row, baseUrl),
    ...(hasDetails && { details: detailsOf(row, mayReadRuns) }),
  }));
  return { data, pagination };
}
