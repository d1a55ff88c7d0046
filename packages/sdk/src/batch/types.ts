import type { RunResult } from '../task/run-result.ts';

/** The results of the runs of a batch, in the order of its items. */
export interface BatchResult<TResult = RunResult> {
  /** `batch_…`; empty for a batch without items. */
  readonly id: string;
  readonly runs: readonly TResult[];
}

/** Options of a batch as a whole. */
export interface BatchOptions {
  /** A second batch with this key is the first one (`isCached`). A key as for a single run. */
  idempotencyKey?: string | readonly string[];
  /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
  idempotencyKeyTTL?: string;
}
