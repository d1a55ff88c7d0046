import type { Job } from '../jobs/job.ts';
import type { Engine } from './engine.ts';

const maxAtOnce = 1_000;

/** The job that deletes idempotency keys, debounces, collections and counts of trigger limits which have ended. */
export const keyPruner = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>): Job => ({
  name: 'key pruner',
  everyMs: 60_000,
  async tick() {
    const now = new Date(clock.now());
    // Locked first, here and below: a row that a new run takes over is a new one. Before 17.7, 16.11 and 15.15 PostgreSQL would delete it
    // in place of the old one.
    const keys = await sql`
      delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where expires_at <= ${now} order by expires_at limit ${maxAtOnce}
           for update skip locked))`;
    // A run that still waits may have been rescheduled; others are not pushed any more.
    const debounces = await sql`
      delete from debounces where ctid = any(array(
        select b.ctid from debounces b
         where b.due <= ${now} and not exists (select from delayed d where d.env = b.env and d.run_id = b.run_id)
         order by b.due limit ${maxAtOnce} for update skip locked))`;
    const collecting = await sql`
      delete from collecting where ctid = any(array(
        select c.ctid from collecting c
         where c.due <= ${now} and not exists (select from delayed d where d.env = c.env and d.run_id = c.run_id)
         order by c.due limit ${maxAtOnce} for update skip locked))`;
    // As long as requests that created a run are remembered.
    const parts = await sql`
      delete from run_parts where ctid = any(array(
        select ctid from run_parts where closed_at <= ${new Date(clock.now() - 86_400_000)} order by closed_at limit ${maxAtOnce}
           for update skip locked))`;
    // They have the database's clock.
    const limits = await sql`
      delete from trigger_starts where ctid = any(array(
        select ctid from trigger_starts where over_at <= rate_now() order by over_at limit ${maxAtOnce}
           for update skip locked))`;
    return [keys, debounces, collecting, parts, limits].some(({ count }) => count >= maxAtOnce);
  },
});
