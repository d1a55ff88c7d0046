import type { Fragment, Queryable } from '../db/connect.ts';

export interface Waiting {
  readonly waiting: number;
  readonly oldestMs: number;
}

/**
 * The waiting runs of an environment by queue, from the last sample of the installation, which has the queues with the most of them. Cheap,
 * regardless of the number of waiting runs.
 */
export const sampledWaiting = (sql: Queryable, env: number): Fragment => sql`
  select s->>'queue' as queue, sum((s->>'waiting')::float8) as waiting, round(max((s->>'oldestMs')::float8)) as "oldestMs"
    from fleet_sample f cross join lateral jsonb_array_elements(f.sample->'queues') s
   where (s->>'env')::int = ${env} group by 1`;

export async function readWaiting(sql: Queryable, env: number): Promise<ReadonlyMap<string, Waiting>> {
  const rows = await sql<(Waiting & { queue: string })[]>`${sampledWaiting(sql, env)}`;
  return new Map(rows.map(({ queue, waiting, oldestMs }) => [queue, { waiting, oldestMs }]));
}
