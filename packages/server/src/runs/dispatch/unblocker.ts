import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';
import type { Dispatch } from './dispatch.ts';

const maxAtOnce = 1_000;

export interface UnblockerDependencies {
  readonly engine: Pick<Engine, 'sql'>;
  readonly dispatch: Pick<Dispatch, 'wake'>;
}

/**
 * The job that unblocks lanes below their limit. Operations that free a slot unblock lanes themselves; this job finds lanes that were
 * blocked at the very moment their limit was raised.
 */
export function unblocker({ engine: { sql }, dispatch }: UnblockerDependencies): Job {
  /** The last lane of the previous page; the next tick reads the page after it. */
  let last = 0;
  return {
    name: 'unblocker',
    everyMs: 2_000,
    async tick() {
      const rows = await sql<{ id: string; env: number; free: boolean }[]>`
        with page as materialized (
          select * from lanes where blocked and num_nulls(rate_limited_at) = 1 and id > ${last} order by id limit ${maxAtOnce}
        ), free as (
          select s.id, s.env,
                 not q.paused and (
                   coalesce(q.concurrency_override, q.concurrency_limit) is null
                   or coalesce(q.concurrency_override, q.concurrency_limit)
                      > (select count(*) from leases x where x.queue_id = s.queue_id and x.key = s.key)
                 ) as free
            from page s join queues q on q.id = s.queue_id
        ), freed as (
          update lanes l set blocked = false from free f where f.id = l.id and f.free
        )
        select id, env, free from free order by id`;
      for (const env of new Set(rows.filter((row) => row.free).map((row) => row.env))) dispatch.wake(env);
      const more = rows.length >= maxAtOnce;
      last = more ? Number(rows.at(-1)?.id) : 0;
      return more;
    },
  };
}
