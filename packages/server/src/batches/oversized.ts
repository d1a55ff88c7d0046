import { batchItemLimit } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import type { Transaction } from '../db/connect.ts';
import { recordErrors } from '../errors/record/record.ts';
import { facet } from '../runs/facets/facet.ts';
import { recordFacets } from '../runs/facets/record.ts';

const tooLarge: SerializedError = {
  type: 'INTERNAL_ERROR',
  name: 'PayloadTooLarge',
  code: 'PAYLOAD_TOO_LARGE',
  message: `The item is larger than ${batchItemLimit} bytes: upload large data separately and pass its address as payload.`,
  stackTrace: '',
};

/** Marks runs that will never start. They end when their batch is sealed. */
export async function failUpFront(tx: Transaction, env: number, runs: readonly string[]): Promise<void> {
  await tx`
    update runs set error = ${JSON.stringify(tooLarge)}::jsonb where env = ${env} and id = any(${runs}::text[])`;
}

/** Ends the marked runs of a batch that is being sealed and records their errors. */
export async function endUpFront(tx: Transaction, env: number, batch: string, now: number): Promise<void> {
  const at = new Date(now);
  const rows = await tx<{ id: string; task: string }[]>`
    with ended as (
      update runs set status = 'FAILED', finished_at = ${at}, updated_at = ${at}
       where env = ${env} and id >= batch_prefix(${batch}) and id < batch_prefix(${batch}) || '~'
         and status is null and error is not null
      returning id, task, queue_id
    ), counted as (
      insert into run_stat_arrivals (env, task, queue_id, what, at, n)
      select ${env}::int, task, queue_id, 'failed', ${at}, count(*) from ended group by task, queue_id
    )
    select id, task from ended`;
  const facets = rows.flatMap(({ id, task }) => [
    { id, facet: facet('status', 'FAILED') },
    { id, facet: facet('task_status', `FAILED:${task}`) },
  ]);
  await recordFacets(tx, env, facets);
  await recordErrors(
    tx,
    rows.map(({ id, task }) => ({ env, task, run: id, error: tooLarge })),
    at,
  );
}
