import type { Operations, Query, Reply } from '@millrace/contract';
import { badRequest } from '../problem.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { storedKey } from '../runs/create/idempotency-key.ts';
import { shown, type WaitpointRow } from './row.ts';

/** Tokens, newest first, in the order of their ids, which begin with the time of their creation. `before` wins over `after`. */
export async function listTokens(
  { sql, clock }: Engine,
  masterKey: MasterKey,
  env: number,
  query: Query<Operations['listWaitpointTokens']>,
  baseUrl: string,
): Promise<Reply<Operations['listWaitpointTokens']>> {
  const size = query['page[size]'];
  const before = cursor(query['page[before]'], 'page[before]');
  const after = before === undefined ? cursor(query['page[after]'], 'page[after]') : undefined;
  const backward = before !== undefined;
  const period = query['filter[createdAt][period]'];
  const from = period === undefined ? query['filter[createdAt][from]'] : new Date(clock.now() - period);
  const to = period === undefined ? query['filter[createdAt][to]'] : undefined;
  const statuses = query['filter[status]'];
  const tags = query['filter[tags]']?.filter(isStorable);
  const key = query['filter[idempotencyKey]'];
  const rows = await sql<WaitpointRow[]>`
    select w.* from waitpoints w
     where w.env = ${env}
       ${statuses ? sql`and w.status = any(${statuses}::text[])` : sql``}
       ${tags ? sql`and w.tags && ${tags}::text[]` : sql``}
       ${key === undefined ? sql`` : sql`and w.idempotency_key = ${isStorable(key) ? storedKey(key) : ''}`}
       ${from ? sql`and w.created_at >= ${from}` : sql``}
       ${to ? sql`and w.created_at <= ${to}` : sql``}
       ${before === undefined ? sql`` : sql`and w.id > ${before}`}
       ${after === undefined ? sql`` : sql`and w.id < ${after}`}
     order by w.id ${backward ? sql`asc` : sql`desc`} limit ${size + 1}`;
  const page = rows.slice(0, size);
  if (backward) page.reverse();
  const more = rows.length > size;
  const [first, last] = [page[0], page.at(-1)];
  return {
    data: page.map((row) => shown(masterKey, row, baseUrl)),
    pagination: {
      ...(last && (backward || more) ? { next: last.id } : {}),
      ...(first && (backward ? more : after !== undefined) ? { previous: first.id } : {}),
    },
  };
}

const isStorable = (text: string): boolean => !text.includes('\0');

function cursor(text: string | undefined, parameter: string): string | undefined {
  if (text === undefined || /^waitpoint_[0-9a-z]{1,60}$/.test(text)) return text;
  const message = 'not a cursor; send one as the pagination of a page gave it, or the id of a token';
  throw badRequest('Query Error', [{ code: 'custom', message, path: [parameter] }]);
}
