import type { RunResult } from '../task/run-result.ts';

/** The results of the runs of a batch, in the order of its items. */
export interface BatchResult<TResult = RunResult> {
  /** `batch_…`; empty for a batch without items. */
  readonly id: string;
  readonly runs: readonly TResult[];
}

/** Options that apply to a batch as a whole. */
export interface BatchOptions {
  /** A second batch with this key returns the first one (`isCached`). The format is that of a single run's key. */
  idempotencyKey?: string | readonly string[];
  /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
  idempotencyKeyTTL?: string;
}
