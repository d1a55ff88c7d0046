import { deleteByEnvironment } from '../db/delete-by-environment.ts';
import type { Engine } from '../runs/engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that deletes events that ended longer ago than the retention. Pending events are not deleted. */
export const eventPruner = ({ sql, clock }: Engine, retentionMs: number) => ({
  name: 'event pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    return deleteByEnvironment(sql, {
      table: sql`events`,
      condition: sql`x.created_at < ${before} and coalesce(x.delivered_at, x.canceled_at, x.failed_at) < ${before}`,
      orderBy: sql`x.created_at`,
      limit: maxAtOnce,
    });
  },
});
