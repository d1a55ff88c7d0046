import { deleteByEnvironment } from '../../db/delete-by-environment.ts';
import type { Engine } from '../../runs/engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that deletes deliveries of webhooks after their retention. Then a request with the same id is a new delivery. */
export const webhookPruner = ({ sql, clock }: Engine, retentionMs: number) => ({
  name: 'webhook pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    return deleteByEnvironment(sql, {
      table: sql`webhook_deliveries`,
      condition: sql`x.created_at < ${before}`,
      orderBy: sql`x.created_at`,
      limit: maxAtOnce,
    });
  },
});
