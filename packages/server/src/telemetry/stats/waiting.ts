import type { Queryable } from '../../db/connect.ts';

export interface Waiting {
  readonly waiting: number;
  readonly oldestMs: number;
}

/** The waiting runs of an environment by queue, from the last sample of the installation, which has the queues with the most of them. */
export async function readWaiting(sql: Queryable, env: number): Promise<ReadonlyMap<string, Waiting>> {
  const rows = await sql<(Waiting & { queue: string })[]>`
    select q->>'queue' as queue, sum((q->>'waiting')::float8) as waiting, max((q->>'oldestMs')::float8) as "oldestMs"
      from fleet_sample f cross join lateral jsonb_array_elements(f.sample->'queues') q
     where (q->>'env')::int = ${env} group by 1`;
  return new Map(rows.map(({ queue, waiting, oldestMs }) => [queue, { waiting, oldestMs }]));
}
