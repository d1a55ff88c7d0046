const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const gibibyte = 1024 ** 3;

/** From when on something is a finding. docs/doctor.md has these numbers. */
export interface Limits {
  /** Between two clocks. */
  readonly clockSkewMs: number;
  /** Of a transaction that does nothing, and of any transaction. */
  readonly idleTransactionMs: number;
  readonly longTransactionMs: number;
  readonly lockWaitMs: number;
  /** Transactions since the oldest one that is not frozen. PostgreSQL stops at 2,100 million. */
  readonly transactionAge: number;
  /** Dead rows of a table, beside those at which autovacuum begins. */
  readonly deadRows: number;
  /** Unused space in the file of a table. */
  readonly bloatBytes: number;
  /** What an unused replication slot retains, and what a standby lacks. */
  readonly slotBytes: number;
  readonly replicationBytes: number;
  /** WAL that is not archived, and how long complete segments of it wait. */
  readonly unarchivedBytes: number;
  readonly unarchivedMs: number;
  /** Of schedules and delayed runs; and how long runs wait while there is no runner. */
  readonly lateMs: number;
  /** How long an endpoint of notifications has accepted nothing. */
  readonly failingMs: number;
  /** How long a background job has not ended a tick, or has failed. */
  readonly stuckMs: number;
  /** How long runs that have ended are kept, where the environment says nothing else, and how much later they may be deleted. */
  readonly runsKeptMs: number;
  readonly pruneLagMs: number;
}

export const defaultLimits: Limits = {
  clockSkewMs: 5_000,
  idleTransactionMs: 5 * minuteMs,
  longTransactionMs: hourMs,
  lockWaitMs: minuteMs / 2,
  transactionAge: 1_000_000_000,
  deadRows: 100_000,
  bloatBytes: gibibyte,
  slotBytes: gibibyte,
  replicationBytes: gibibyte,
  unarchivedBytes: gibibyte,
  unarchivedMs: 15 * minuteMs,
  lateMs: minuteMs,
  failingMs: 15 * minuteMs,
  stuckMs: 5 * minuteMs,
  runsKeptMs: 30 * 24 * hourMs,
  pruneLagMs: 48 * hourMs,
};
