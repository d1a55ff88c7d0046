import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';

const maxPruned = 1_000;

/** The job that deletes spans older than their retention. The spans of a deleted run are deleted with it. */
export const spanPruner = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>, retentionMs: number): Job => ({
  name: 'span pruner',
  everyMs: 60_000,
  async tick() {
    const before = new Date(clock.now() - retentionMs);
    const { count } = await sql`
      delete from run_spans where ctid = any(array(
        select ctid from run_spans where at < ${before} limit ${maxPruned}))`;
    return count >= maxPruned;
  },
});
