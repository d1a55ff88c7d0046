import { background } from '../background.ts';
import type { Fragment, Sql } from './connect.ts';

/** The database's clock, in milliseconds since 1970. */
export interface Clock {
  now(): number;
  /** Shifts the time of this process, for tests. */
  shift(ms: number): void;
  /** The shift in milliseconds. */
  readonly shiftedMs: number;
  stop(): void;
}

/**
 * Reads the database's clock without a round trip. The offset to this machine's monotonic clock is measured at start and every ten seconds.
 * A jump of this machine's wall clock has no effect, and all processes agree.
 */
export async function startClock(sql: Sql): Promise<Clock> {
  let base = 0;
  // half the round trip of the measurement that `base` is from
  let uncertainty = 0;
  let shifted = 0;
  const measure = async (): Promise<void> => {
    const before = performance.now();
    const [row] = await sql<
      { now: number }[]
    >`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    const after = performance.now();
    // A result is accurate to half its round trip, which includes the wait for a connection. While the two ranges overlap, the offset is
    // not changed.
    const measured = (row?.now ?? Date.now()) - (before + after) / 2;
    const halfTrip = (after - before) / 2;
    if (Math.abs(measured - base) <= halfTrip + uncertainty) return;
    base = measured;
    uncertainty = halfTrip;
  };
  // Connects first, because that takes longer than the measurement.
  await sql`select`;
  await measure();
  // While the database is unavailable, the last offset remains.
  const stop = background(10_000, measure, () => {});
  return {
    now: () => Math.floor(base + performance.now() + shifted),
    shift: (ms) => {
      shifted += ms;
    },
    get shiftedMs() {
      return shifted;
    },
    stop,
  };
}

/**
 * The same time as an SQL expression, evaluated when the statement executes. For times that processes compare with each other at shorter
 * intervals than that of the measurements, because after a failover the new server's clock may differ.
 */
export const databaseNow = ({ sql, clock }: { readonly sql: Sql; readonly clock: Clock }): Fragment =>
  sql`(clock_timestamp() + ${clock.shiftedMs}::float8 * interval '1 millisecond')`;
