import type { EnvironmentConcurrency } from '@millrace/contract';
import type { Queryable, Sql } from '../db/connect.ts';

export async function readConcurrency(sql: Queryable, env: number): Promise<EnvironmentConcurrency> {
  const [row] = await sql<EnvironmentConcurrency[]>`
    select e.paused, e.concurrency_limit as "concurrencyLimit",
           (select count(*)::int from leases l where l.env = e.id) as running,
           (select coalesce(sum((select count(*) from queued w where w.lane_id = l.id)), 0)::int
              from lanes l where l.env = e.id) as queued
      from environments e where e.id = ${env}`;
  if (!row) throw new Error(`environment ${env} does not exist`);
  return row;
}

export interface ConcurrencyChange {
  readonly paused?: boolean | undefined;
  /** Null is no limit. */
  readonly concurrencyLimit?: number | null | undefined;
}

/** What is left out stays as it is. No claim runs meanwhile; runs that execute already go on. */
export async function changeConcurrency(
  sql: Sql,
  env: number,
  { paused, concurrencyLimit }: ConcurrencyChange,
): Promise<EnvironmentConcurrency> {
  await sql.begin(async (tx) => {
    await tx`select claim_lock(${env})`;
    await tx`
      update environments
         set paused = coalesce(${paused ?? null}::boolean, paused),
             concurrency_limit = case when ${concurrencyLimit === undefined}::boolean then concurrency_limit
                                      else ${concurrencyLimit ?? null}::int end
       where id = ${env}`;
  });
  return readConcurrency(sql, env);
}
