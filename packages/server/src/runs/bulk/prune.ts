import type { Engine } from '../engine/engine.ts';

const maxRows = 5_000;

/** The job that deletes bulk actions, with their runs' entries, once they ended longer ago than the retention of runs. */
export const bulkPruner = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>, retentionMs: number) => ({
  name: 'bulk pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    const gone = await sql`
      delete from bulk_runs where ctid = any(array(
        select b.ctid from bulk_actions a join bulk_runs b on b.env = a.env and b.bulk_id = a.id
         where a.completed_at < ${before} limit ${maxRows}))`;
    if (gone.count > 0) return true;
    await sql`delete from bulk_actions where completed_at < ${before}`;
    return false;
  },
});
