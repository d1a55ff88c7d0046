const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const gibibyte = 1024 ** 3;

/** The thresholds of findings. docs/doctor.md contains these numbers. */
export interface Limits {
  /** The difference between two clocks. */
  readonly clockSkewMs: number;
  /** The age of an idle transaction, and of any transaction. */
  readonly idleTransactionMs: number;
  readonly longTransactionMs: number;
  readonly lockWaitMs: number;
  /** Transactions since the oldest one that is not frozen. PostgreSQL stops at 2,100 million. */
  readonly transactionAge: number;
  /** Dead rows of a table above its autovacuum threshold. */
  readonly deadRows: number;
  /** Unused space in the file of a table. */
  readonly bloatBytes: number;
  /** WAL retained by an unused replication slot, or missing on a standby. */
  readonly slotBytes: number;
  readonly replicationBytes: number;
  /** Unarchived WAL, and how long complete segments of it wait. */
  readonly unarchivedBytes: number;
  readonly unarchivedMs: number;
  /** How late schedules and delayed runs are, and how long runs wait without a runner. */
  readonly lateMs: number;
  /** How long a notification endpoint has accepted nothing. */
  readonly failingMs: number;
  /** How long a background job has not finished a tick, or has failed. */
  readonly stuckMs: number;
  /** How long notifications of the database have not arrived. */
  readonly missingMs: number;
  /** How long a connection that became silent is a finding. */
  readonly silenceMs: number;
  /** How long ended runs are retained, unless their environment has its own setting, and how much later they may be deleted. */
  readonly runRetentionMs: number;
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
  missingMs: 10_000,
  silenceMs: 10 * minuteMs,
  runRetentionMs: 30 * 24 * hourMs,
  pruneLagMs: 48 * hourMs,
};
