/** Whether this run repeats everything in full (`MILLRACE_TEST_LONG=1`), rather than a third of it. */
export const isLong = process.env['MILLRACE_TEST_LONG'] === '1';

/** The share of the full number of repetitions. `MILLRACE_TEST_SCALE=10` searches ten times longer than a full run. */
export const scale = Number(process.env['MILLRACE_TEST_SCALE'] ?? (isLong ? 1 : 1 / 3));

/** How often a property test draws, or another test repeats, what it does `full` times in a full run. */
export const numRuns = (full: number): number => Math.max(1, Math.ceil(full * scale));
