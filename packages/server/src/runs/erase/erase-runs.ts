import type { Transaction } from '../../db/connect.ts';

/**
 * Erases ended runs except for their ids, tasks, statuses, times, versions, queues and relations to other runs. The caller has
 * locked them.
 */
export async function eraseRuns(
  tx: Transaction,
  env: number,
  ids: readonly string[],
  at: Date,
): Promise<void> {
  await tx`
    with keys as (
      delete from idempotency_keys k using runs r
       where r.env = ${env} and r.id = any(${ids}::text[])
         and k.env = ${env} and k.task = r.task and k.key = r.idempotency_key and k.run_id = r.id
    ), waited as (
      delete from waits w where w.env = ${env} and w.run_id = any(${ids}::text[])
    ), attempted as (
      update attempts a set error = null where a.env = ${env} and a.run_id = any(${ids}::text[]) and a.error is not null
    ), collected as (
      delete from run_parts p where p.env = ${env} and p.run_id = any(${ids}::text[])
    )
    delete from run_steps s where s.env = ${env} and s.run_id = any(${ids}::text[])`;
  await tx`delete from idempotency_keys k where k.redirected and k.env = ${env} and k.run_id = any(${ids}::text[])`;
  await tx`
    update runs
       set payload = null, payload_type = null, output = null, output_type = null, error = null, metadata = null,
           seed_metadata = null, streams = null, tags = null, path_facets = null, description = null, concurrency_key = null,
           idempotency_key = null, idempotency_key_options = null, debounce_key = null, singleton_key = null,
           collect_key = null, event = null, traceparent = null, erased_at = ${at}
     where env = ${env} and id = any(${ids}::text[]) and erased_at is null`;
}
