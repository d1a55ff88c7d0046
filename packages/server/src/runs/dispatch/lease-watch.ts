import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';
import type { LeaseTimes } from './connection-state.ts';

/**
 * The job that records that this server can write to the database. A gap in these records of all servers is an outage, during which no
 * lease could be renewed, so leases then expire later (`is_lease_over`). The rescuer does not do this itself, because reclaiming runs may
 * take a long time.
 */
export const leaseWatch = (
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  { leaseMs }: Pick<LeaseTimes, 'leaseMs'>,
): Job => ({
  name: 'lease watch',
  // A gap of a quarter of a lease is an outage.
  everyMs: Math.min(1_000, leaseMs / 12),
  async tick() {
    await sql`
      select watch_leases(${leaseMs}::float8 * interval '1 millisecond', ${clock.shiftedMs}::float8 * interval '1 millisecond')`;
    return false;
  },
});
