import type { Operations, Reply } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { shownKey } from '../runs/create/idempotency-key.ts';

type Batch = Reply<Operations['retrieveBatch']>;

interface Row {
  readonly id: string;
  readonly run_count: number;
  readonly idempotency_key: string | null;
  readonly idempotency_key_options: { readonly key: string } | null;
  readonly created_at: Date;
  readonly sealed_at: Date | null;
  readonly aborted_at: Date | null;
  readonly runs: string[];
  readonly live: boolean;
  readonly last: Date | null;
}

/** A batch with its runs, in the order of its items; undefined if there is none. Its status follows from its runs. */
export async function retrieveBatch(sql: Queryable, env: number, id: string): Promise<Batch | undefined> {
  const [row] = await sql<Row[]>`
    select b.id, b.run_count, b.idempotency_key, b.idempotency_key_options, b.created_at, b.sealed_at, b.aborted_at,
           coalesce(x.runs, '{}') as runs, coalesce(x.live, false) as live, x.last
      from batches b
      cross join lateral (
        select array_agg(m.run_id order by m.position) as runs, bool_or(r.id is not null and r.status is null) as live,
               max(r.finished_at) as last
          from batch_runs(b.env, b.id) with ordinality as m (run_id, cached, position)
          left join runs r on r.env = b.env and r.id = m.run_id
      ) x
     where b.env = ${env} and b.id = ${id}`;
  if (!row) return undefined;
  const updated = [row.created_at, row.sealed_at, row.aborted_at, row.live ? null : row.last];
  return {
    id: row.id,
    status: statusOf(row),
    idempotencyKey: row.idempotency_key_options?.key ?? shownKey(row.idempotency_key),
    createdAt: row.created_at.toISOString(),
    updatedAt: new Date(Math.max(...updated.map((at) => at?.getTime() ?? 0))).toISOString(),
    runCount: row.run_count,
    runs: row.runs,
    // An item that could not become a run was refused when it came.
    processing: { completedAt: row.sealed_at?.toISOString(), errors: [] },
  };
}

function statusOf({ aborted_at, sealed_at, live }: Row): Batch['status'] {
  if (aborted_at) return 'ABORTED';
  // Clients before 4.4 know no other name for what is not over.
  return !sealed_at || live ? 'PENDING' : 'COMPLETED';
}
