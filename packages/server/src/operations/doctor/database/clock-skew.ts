import type { DatabaseCheck } from '../database-input.ts';

export const clockSkew: DatabaseCheck = {
  name: 'clock-skew',
  condition: 'the clocks of this machine and of PostgreSQL differ by less than 5 seconds',
  severity: 'warning',
  why: 'Delays and schedules use the clock of PostgreSQL. Expiring credentials, certificates and log lines use the clock of this machine.',
  fix: 'Run a time service on both machines: `timedatectl set-ntp true`.',
  async find({ sql, limits, wallClock }) {
    const before = wallClock();
    const [row] = await sql<{ now: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    const after = wallClock();
    if (!row) return [];
    // The time may have been read at any point in between.
    const skew = row.now < before ? row.now - before : row.now > after ? row.now - after : 0;
    if (Math.abs(skew) <= limits.clockSkewMs) return [];
    const seconds = (Math.abs(skew) / 1_000).toFixed(1);
    return [
      { what: `PostgreSQL is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the clock of this machine.` },
    ];
  },
};
