import type { Engine } from '../runs/engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that deletes events that ended longer ago than the retention. Pending events are not deleted. */
export const eventPruner = ({ sql, clock }: Engine, retentionMs: number) => ({
  name: 'event pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    const gone = await sql`
      delete from events where ctid = any(array(
        select v.row_id from environments e
         cross join lateral (
           select x.ctid as row_id from events x
            where x.env = e.id and x.created_at < ${before} and coalesce(x.delivered_at, x.canceled_at, x.failed_at) < ${before}
            order by x.created_at limit ${maxAtOnce}) v
         limit ${maxAtOnce}))`;
    return gone.count >= maxAtOnce;
  },
});
