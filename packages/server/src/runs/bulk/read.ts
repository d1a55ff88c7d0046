import type { BulkAction, Operations, Query, Reply } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { requestedPageById, pageOf } from '../../page.ts';
import { notFound } from '../../problem.ts';

interface Row {
  readonly id: string;
  readonly name: string | null;
  readonly type: BulkAction['type'];
  readonly status: BulkAction['status'];
  readonly total: number;
  readonly success: number;
  readonly failure: number;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

const responseOf = ({ id, name, type, status, total, success, failure, ...row }: Row): BulkAction => ({
  id,
  name: name ?? undefined,
  type,
  status,
  counts: { total, success, failure },
  createdAt: row.created_at.toISOString(),
  completedAt: row.completed_at?.toISOString(),
});

export const bulkMissing = () => notFound('Bulk action not found');

export async function retrieveBulkAction(sql: Queryable, env: number, id: string): Promise<BulkAction> {
  const [row] = id.includes('\0')
    ? []
    : await sql<Row[]>`select * from bulk_actions where env = ${env} and id = ${id}`;
  if (!row) throw bulkMissing();
  return responseOf(row);
}

/** Newest first: ids begin with the time. */
export async function listBulkActions(
  sql: Queryable,
  env: number,
  query: Query<Operations['listBulkActions']>,
): Promise<Reply<Operations['listBulkActions']>> {
  const requested = requestedPageById(query, { pattern: /^bulk_[0-9a-z]{1,60}$/, what: 'a bulk action' });
  const { size, cursor, backward } = requested;
  const beyond = cursor === undefined ? sql`` : backward ? sql`and id > ${cursor}` : sql`and id < ${cursor}`;
  const rows = await sql<Row[]>`
    select * from bulk_actions where env = ${env} ${beyond}
     order by ${backward ? sql`id` : sql`id desc`} limit ${size + 1}`;
  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map(responseOf), pagination };
}
