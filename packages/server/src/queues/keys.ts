import type { QueueKey } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { queueNumber } from './find.ts';

/** The concurrency keys of a queue that have runs, those with the most waiting first. They are counted as the queue itself is. */
export const listQueueKeys = (sql: Queryable, queue: string, limit: number): Promise<QueueKey[]> => {
  const id = queueNumber(queue);
  return sql<QueueKey[]>`
    select nullif(k.key, '') as key, sum(k.running)::int as running, sum(k.queued)::int as queued
      from (select l.key, 0 as running, (select count(*) from queued w where w.lane_id = l.id) as queued
              from lanes l where l.queue_id = ${id}
             union all
            select l.key, count(*), 0 from leases l where l.queue_id = ${id} group by l.key) k
     group by k.key having sum(k.running) + sum(k.queued) > 0
     order by 3 desc, 2 desc, k.key limit ${limit}`;
};
