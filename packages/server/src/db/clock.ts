import type { Sql } from './connect.ts';

/** Milliseconds since 1970 by the database's clock. */
export interface Clock {
  now(): number;
  /** Moves this process's time, for tests. */
  shift(ms: number): void;
  stop(): void;
}

/**
 * The database's clock, read without a round trip: its offset to this machine's monotonic clock is measured at start and every
 * ten seconds, so a jump of this machine's wall clock changes nothing and all processes agree.
 */
export async function startClock(sql: Sql): Promise<Clock> {
  let base = 0;
  let shifted = 0;
  const measure = async (): Promise<void> => {
    const before = performance.now();
    const [row] = await sql<
      { now: number }[]
    >`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    const after = performance.now();
    // The answer was true about half a round trip ago, which may have been long: for a connection, too, it had to wait. As long as what
    // is known lies within that, it is not worse.
    const measured = (row?.now ?? Date.now()) - (before + after) / 2;
    if (Math.abs(measured - base) > (after - before) / 2) base = measured;
  };
  await measure();
  const timer = setInterval(() => void measure().catch(() => {}), 10_000);
  timer.unref();
  return {
    now: () => Math.floor(base + performance.now() + shifted),
    shift: (ms) => {
      shifted += ms;
    },
    stop: () => clearInterval(timer),
  };
}
