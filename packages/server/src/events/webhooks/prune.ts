import type { Engine } from '../../runs/engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that deletes deliveries of webhooks after their retention. Then a request with the same id is a new delivery. */
export const webhookPruner = ({ sql, clock }: Engine, retentionMs: number) => ({
  name: 'webhook pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    const gone = await sql`
      delete from webhook_deliveries where ctid = any(array(
        select v.row_id from environments e
         cross join lateral (
           select x.ctid as row_id from webhook_deliveries x
            where x.env = e.id and x.created_at < ${before} order by x.created_at limit ${maxAtOnce}) v
         limit ${maxAtOnce}))`;
    return gone.count >= maxAtOnce;
  },
});
