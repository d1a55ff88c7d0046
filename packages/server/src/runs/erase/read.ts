import type { Erasure, Operations, Query, Reply } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { isStorable } from '../../db/storable.ts';
import { pageOf, requestedPageById } from '../../page.ts';
import { notFound } from '../../problem.ts';

interface Row {
  readonly id: string;
  readonly mode: 'ERASE' | 'DELETE';
  readonly status: Erasure['status'];
  readonly erased: number;
  readonly skipped: number;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

/** Without the selection, which may be large. */
const columns = (sql: Queryable) => sql`id, mode, status, erased, skipped, created_at, completed_at`;

const responseOf = ({ id, mode, status, erased, skipped, ...row }: Row): Erasure => ({
  id,
  mode: mode === 'DELETE' ? 'delete' : 'erase',
  status,
  counts: { erased, skipped },
  createdAt: row.created_at.toISOString(),
  completedAt: row.completed_at?.toISOString(),
});

export async function retrieveErasure(sql: Queryable, env: number, id: string): Promise<Erasure> {
  const [row] = isStorable(id)
    ? await sql<Row[]>`select ${columns(sql)} from erasures where env = ${env} and id = ${id}`
    : [];
  if (!row) throw notFound('Erasure not found');
  return responseOf(row);
}

/** Newest first: ids begin with the time. */
export async function listErasures(
  sql: Queryable,
  env: number,
  query: Query<Operations['listErasures']>,
): Promise<Reply<Operations['listErasures']>> {
  const requested = requestedPageById(query, { pattern: /^erasure_[0-9a-z]{1,60}$/, what: 'an erasure' });
  const { size, cursor, backward } = requested;
  const beyond = cursor === undefined ? sql`` : backward ? sql`and id > ${cursor}` : sql`and id < ${cursor}`;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from erasures where env = ${env} ${beyond}
     order by ${backward ? sql`id` : sql`id desc`} limit ${size + 1}`;
  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map(responseOf), pagination };
}
