import type { Queue, RateLimitResponse } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';

/** A caller's reference to a queue. */
export interface QueueReference {
  readonly queue: string;
  readonly type: 'id' | 'task' | 'custom';
}

interface QueueRow {
  readonly id: number;
  readonly name: string;
  readonly paused: boolean;
  readonly base: number | null;
  readonly override: number | null;
  readonly overridden_at: Date | null;
  readonly rate: RateLimitResponse | null;
  readonly rate_override: RateLimitResponse | null;
  readonly rate_overridden: boolean;
  readonly rate_overridden_at: Date | null;
  readonly available: number | null;
  readonly next_start_at: Date | null;
  readonly running: number;
  readonly queued: number;
  readonly weight: number;
  readonly shared: Queue['sharedLimit'];
}

export async function findQueue(
  sql: Queryable,
  env: number,
  reference: QueueReference,
): Promise<Queue | undefined> {
  const [queue] = await readQueues(
    sql,
    sql`(select q.*, null::int as queued from queues q where q.env = ${env} and ${named(sql, reference)})`,
  );
  return queue;
}

/** The number in the id of a queue; 0, which is not a queue, for any other text. */
export const queueNumber = (id: string): number => Number(/^queue_(\d{1,9})$/.exec(id)?.[1] ?? 0);

/** The condition on a row of queues. */
export function named(sql: Queryable, { queue, type }: QueueReference): Fragment {
  if (type === 'id') return sql`id = ${queueNumber(queue)}`;
  // Queue names never contain characters that cannot be stored.
  if (queue.includes('\u0000')) return sql`false`;
  // Published clients write the slashes of a name as %2F before they encode it for the path.
  const name = queue.replaceAll('%2F', '/');
  return sql`name = ${type === 'task' ? `task/${name}` : name}`;
}

/**
 * The rows of `queues`, with a column `queued`: null, or the number of waiting runs if already known. Live counts are read from the tables
 * that hold the runs. For a rate limit of the whole queue, the remaining starts are returned.
 */
export async function readQueues(
  sql: Queryable,
  queues: Fragment,
  order: Fragment = sql`q.name`,
): Promise<Queue[]> {
  const rows = await sql<QueueRow[]>`
    select q.id, q.name, q.paused, q.concurrency_limit as base, q.concurrency_override as override, q.overridden_at,
           q.rate_limit as rate, q.rate_limit_override as rate_override, q.rate_limit_override is not null as rate_overridden,
           q.rate_limit_overridden_at as rate_overridden_at, r.available, r.next_start_at,
           (select count(*)::int from leases l where l.queue_id = q.id) as running,
           coalesce(q.queued, ${queuedIn(sql)}) as queued,
           q.weight,
           (select json_build_object('name', h.name, 'limit', coalesce(h.slots_override, h.slots), 'running', ${sharedRunning(sql)})
              from shared_limits h where h.id = q.shared_limit_id) as shared
      from ${queues} q
      left join queue_starts s on s.queue_id = q.id and s.key = '' and not q.rate_by_key
      left join lateral (${rateUse(sql)}) r on not q.rate_by_key
     order by ${order}`;
  return rows.map(queueOf);
}

/** How many runs wait in the queue `q`, counted lane by lane. */
export const queuedIn = (sql: Queryable): Fragment => sql`
  (select coalesce(sum((select count(*) from queued w where w.lane_id = l.id)), 0)::int from lanes l where l.queue_id = q.id)`;

/** How many runs execute under the shared limit `h`. */
export const sharedRunning = (sql: Queryable): Fragment => sql`
  (select coalesce(sum((select count(*) from leases x where x.queue_id = m.id)), 0)::int from queues m where m.shared_limit_id = h.id)`;

/** How many runs may start under the rate limit of the queue `q`, whose starts are `s`, and when the next may start if none may now. */
export const rateUse = (sql: Queryable): Fragment => sql`
  select available, case when available = 0 then n.next end as next_start_at
    from (select rate_now() as now) c
    cross join lateral (
      select greatest(0, q.rate_burst - coalesce(sum(x.n) filter (where x.at > c.now - q.rate_window), 0))::int as available
        from unnest(s.at, s.n) as x (at, n)) a
    cross join lateral (select rate_next(s.at, s.n, q.rate_burst, q.rate_window, c.now, 1) as next) n
   where q.rate_burst is not null`;

export const ownQueue = 'task/';

/** The displayed form of a queue, from the name in its row. */
export const shownAs = (name: string): Pick<Queue, 'name' | 'type'> =>
  name.startsWith(ownQueue) ? { name: name.slice(ownQueue.length), type: 'task' } : { name, type: 'custom' };

/** The name in the row of a queue, from its displayed form. */
export const rowName = ({ name, type }: Pick<Queue, 'name' | 'type'>): string =>
  type === 'task' ? `${ownQueue}${name}` : name;

const queueOf = (row: QueueRow): Queue => ({
  id: `queue_${row.id}`,
  ...shownAs(row.name),
  running: row.running,
  queued: row.queued,
  paused: row.paused,
  concurrencyLimit: row.override ?? row.base,
  concurrency: {
    current: row.override ?? row.base,
    base: row.base,
    override: row.override,
    overriddenAt: row.overridden_at?.toISOString() ?? null,
    overriddenBy: null,
  },
  rateLimit: {
    current: row.rate_overridden ? row.rate_override : row.rate,
    base: row.rate,
    override: row.rate_override,
    isOverridden: row.rate_overridden,
    overriddenAt: row.rate_overridden_at?.toISOString() ?? null,
    available: row.available,
    nextStartAt: row.next_start_at?.toISOString() ?? null,
  },
  weight: row.weight,
  sharedLimit: row.shared,
});
