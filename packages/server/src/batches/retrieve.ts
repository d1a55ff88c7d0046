import type { ListedBatch, Operations, Reply } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { shownKey } from '../runs/create/idempotency-key.ts';

type Batch = Reply<Operations['retrieveBatch']>;

export interface BatchRowWithCounts {
  readonly id: string;
  readonly run_count: number;
  readonly received: number;
  readonly parent_run_id: string | null;
  readonly idempotency_key: string | null;
  readonly idempotency_key_options: { readonly key: string } | null;
  readonly created_at: Date;
  readonly sealed_at: Date | null;
  readonly aborted_at: Date | null;
  readonly live: number;
  readonly completed: number;
  readonly failed: number;
  readonly ended: number;
  readonly last: Date | null;
}

interface Row extends BatchRowWithCounts {
  readonly runs: string[];
}

/** How the runs `r` of a batch have ended. Deleted runs are not counted. */
export const countsOf = (sql: Queryable) => sql`
  count(*) filter (where r.id is not null and r.status is null)::int as live,
  count(*) filter (where r.status = 'COMPLETED')::int as completed,
  count(*) filter (where r.status in ('FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT'))::int as failed,
  count(*) filter (where r.status in ('CANCELED', 'EXPIRED'))::int as ended,
  max(r.finished_at) as last`;

/** A batch with its runs, in item order; undefined if it does not exist. Its status is derived from its runs. */
export async function retrieveBatch(sql: Queryable, env: number, id: string): Promise<Batch | undefined> {
  const [row] = await sql<Row[]>`
    select b.id, b.run_count, b.received, b.parent_run_id, b.idempotency_key, b.idempotency_key_options, b.created_at,
           b.sealed_at, b.aborted_at, x.*
      from batches b
      cross join lateral (
        select coalesce(array_agg(m.run_id order by m.position), '{}') as runs, ${countsOf(sql)}
          from batch_runs(b.env, b.id) with ordinality as m (run_id, cached, position)
          left join runs r on r.env = b.env and r.id = m.run_id
      ) x
     where b.env = ${env} and b.id = ${id}`;
  if (!row) return undefined;
  return {
    ...listedOf(row),
    runs: row.runs,
    // Items that could not become runs were rejected on arrival.
    processing: { completedAt: row.sealed_at?.toISOString(), errors: [] },
  };
}

/** A batch without its runs. */
export function listedOf(row: BatchRowWithCounts): ListedBatch {
  const { live, completed, failed, ended } = row;
  const changes = [row.created_at, row.sealed_at, row.aborted_at, live > 0 ? null : row.last];
  return {
    id: row.id,
    status: statusOf(row),
    idempotencyKey: row.idempotency_key_options?.key ?? shownKey(row.idempotency_key),
    createdAt: row.created_at.toISOString(),
    updatedAt: new Date(Math.max(...changes.map((at) => at?.getTime() ?? 0))).toISOString(),
    runCount: row.run_count,
    received: row.received,
    parentRunId: row.parent_run_id ?? undefined,
    sealedAt: row.sealed_at?.toISOString(),
    counts: { live, completed, failed, ended },
  };
}

function statusOf({ aborted_at, sealed_at, live }: BatchRowWithCounts): Batch['status'] {
  if (aborted_at) return 'ABORTED';
  // Clients before 4.4 know no other status for an unfinished batch.
  return !sealed_at || live > 0 ? 'PENDING' : 'COMPLETED';
}
