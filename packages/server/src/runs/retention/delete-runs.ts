import type { Transaction } from '../../db/connect.ts';

/** Deletes ended runs with their attempts, waits, steps, logs, spans, model calls and idempotency keys. Their facets are deleted later. */
export async function deleteRuns(tx: Transaction, env: number, ids: readonly string[]): Promise<void> {
  await tx`
    with gone as (
      delete from runs r where r.env = ${env} and r.id = any(${ids}::text[]) returning r.id, r.task, r.idempotency_key
    ), keys as (
      -- a key that outlived its run would return a run that cannot be retrieved
      delete from idempotency_keys k using gone g
       where k.env = ${env} and k.task = g.task and k.key = g.idempotency_key and k.run_id = g.id
    ), waited as (
      delete from waits w using gone g where w.env = ${env} and w.run_id = g.id
    ), attempted as (
      delete from attempts a using gone g where a.env = ${env} and a.run_id = g.id
    ), steps as (
      delete from run_steps s using gone g where s.env = ${env} and s.run_id = g.id
    ), models as (
      delete from model_calls m using gone g where m.env = ${env} and m.run_id = g.id
    ), spans as (
      delete from run_spans s using gone g where s.env = ${env} and s.run_id = g.id
    )
    delete from run_logs l using gone g where l.env = ${env} and l.run_id = g.id`;
  // More keys may resolve to a debounced run than the one in its row.
  await tx`delete from idempotency_keys k where k.redirected and k.env = ${env} and k.run_id = any(${ids}::text[])`;
}
