import type { EnvironmentConcurrency } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Queryable, Sql, Transaction } from '../db/connect.ts';

export async function readConcurrency(sql: Queryable, env: number): Promise<EnvironmentConcurrency> {
  const [row] = await sql<EnvironmentConcurrency[]>`
    select e.paused, e.concurrency_limit as "concurrencyLimit",
           (select count(*)::int from leases l where l.env = e.id) as running,
           (select coalesce(sum((select count(*) from queued w where w.lane_id = l.id)), 0)::int
              from queues q join lanes l on l.queue_id = q.id where q.env = e.id) as queued
      from environments e where e.id = ${env}`;
  if (!row) throw new Error(`environment ${env} does not exist`);
  return row;
}

export interface ConcurrencyChange {
  readonly paused?: boolean | undefined;
  /** Null means no limit. */
  readonly concurrencyLimit?: number | null | undefined;
}

type Limits = Pick<EnvironmentConcurrency, 'paused' | 'concurrencyLimit'>;

/** Omitted fields are unchanged. No claim runs in the meantime; runs that are already executing continue. */
export async function changeConcurrency(
  sql: Sql,
  env: number,
  { paused, concurrencyLimit }: ConcurrencyChange,
  record?: RecordHere,
): Promise<EnvironmentConcurrency> {
  await sql.begin(async (tx) => {
    await tx`select claim_lock(${env})`;
    const [old] = await tx<(Limits & { publicId: string })[]>`
      select public_id as "publicId", paused, concurrency_limit as "concurrencyLimit" from environments where id = ${env}`;
    const [now] = await tx<Limits[]>`
      update environments
         set paused = coalesce(${paused ?? null}::boolean, paused),
             concurrency_limit = case when ${concurrencyLimit === undefined}::boolean then concurrency_limit
                                      else ${concurrencyLimit ?? null}::int end
       where id = ${env}
      returning paused, concurrency_limit as "concurrencyLimit"`;
    if (record && old && now) await recordConcurrency(tx, record, old, now);
  });
  return readConcurrency(sql, env);
}

/** Changes without effect are not recorded. */
async function recordConcurrency(
  tx: Transaction,
  record: RecordHere,
  { publicId: target, ...old }: Limits & { readonly publicId: string },
  now: Limits,
): Promise<void> {
  if (old.paused === now.paused && old.concurrencyLimit === now.concurrencyLimit) return;
  const act = old.paused === now.paused ? 'limited' : now.paused ? 'paused' : 'resumed';
  await record(tx, { act: `environment.${act}`, target, old, new: { ...now } });
}
