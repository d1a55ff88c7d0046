import type { Engine } from '../runs/engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that deletes tokens that ended longer ago than the retention of finished runs. */
export function tokenPruner({ sql, clock }: Pick<Engine, 'sql' | 'clock'>, retentionMs: number) {
  return {
    name: 'token pruner',
    everyMs: 60_000,
    async tick(): Promise<boolean> {
      const { count } = await sql`
        with gone as (
          delete from waitpoints where ctid = any(array(
            select w.ctid from waitpoints w where w.completed_at < ${new Date(clock.now() - retentionMs)}
             order by w.completed_at limit ${maxAtOnce})) returning id
        ), awaited as (
          delete from event_waits e using gone g where e.waitpoint_id = g.id
        )
        select id from gone`;
      return count >= maxAtOnce;
    },
  };
}
