import type { Engine } from '../runs/engine.ts';

/** How long it is remembered what became of a tick: a backfill of earlier ones runs them again. */
export const tickRetentionMs = 30 * 86_400_000;
const maxAtOnce = 1_000;

/** The job that forgets old ticks. */
export const tickPruner = ({ sql, clock }: Engine) => ({
  name: 'tick pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - tickRetentionMs);
    const ticks = await sql`
      delete from schedule_ticks where ctid = any(array(
        select ctid from schedule_ticks where fired_at < ${before} order by fired_at limit ${maxAtOnce}))`;
    const skips = await sql`
      delete from schedule_skips where ctid = any(array(
        select ctid from schedule_skips where recorded_at < ${before} order by recorded_at limit ${maxAtOnce}))`;
    return ticks.count >= maxAtOnce || skips.count >= maxAtOnce;
  },
});
