import type { QueueKey } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { queueNumber, rateUse } from './find.ts';

interface KeyRow {
  readonly key: string | null;
  readonly running: number;
  readonly queued: number;
  readonly available: number | null;
  readonly next_start_at: Date | null;
  readonly weight: number;
}

/** The concurrency keys of a queue that have runs, those with the most waiting runs first. They are counted the same way as the queue. */
export async function listQueueKeys(sql: Queryable, queue: string, limit: number): Promise<QueueKey[]> {
  const id = queueNumber(queue);
  const rows = await sql<KeyRow[]>`
    select nullif(k.key, '') as key, k.running, k.queued, r.available, r.next_start_at,
           coalesce((select coalesce(w.weight_override, w.weight) from key_weights w where w.queue_id = q.id and w.key = k.key), q.weight) as weight
      from (
        select k.key, sum(k.running)::int as running, sum(k.queued)::int as queued
          from (select l.key, 0 as running, (select count(*) from queued w where w.lane_id = l.id) as queued
                  from lanes l where l.queue_id = ${id}
                 union all
                select l.key, count(*), 0 from leases l where l.queue_id = ${id} group by l.key) k
         group by k.key having sum(k.running) + sum(k.queued) > 0
         order by 3 desc, 2 desc, k.key limit ${limit}) k
      join queues q on q.id = ${id}
      left join queue_starts s on s.queue_id = q.id and s.key = k.key and q.rate_by_key
      left join lateral (${rateUse(sql)}) r on q.rate_by_key
     order by k.queued desc, k.running desc, k.key`;
  return rows.map(({ key, running, queued, available, next_start_at: next, weight }) => ({
    key,
    running,
    queued,
    weight,
    ...(available !== null && { available }),
    ...(next && { nextStartAt: next.toISOString() }),
  }));
}
