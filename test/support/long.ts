/** Whether this run has the full number of repetitions (`MILLRACE_TEST_LONG=1`), rather than a third. */
export const isLong = process.env['MILLRACE_TEST_LONG'] === '1';

/** The share of the full number of repetitions. `MILLRACE_TEST_SCALE=10` searches ten times longer than a full run. */
export const scale = Number(process.env['MILLRACE_TEST_SCALE'] ?? (isLong ? 1 : 1 / 3));

/** The number of cases or repetitions in this run, for a test with `full` of them in a full run. */
export const numRuns = (full: number): number => Math.max(1, Math.ceil(full * scale));
