/** A triggered batch. */
export interface BatchHandle {
  /** `batch_…`; empty for a batch without items, which is never sent to the server. */
  readonly batchId: string;
  readonly runCount: number;
  /** True when an idempotency key matched an existing batch: none of these items were sent. */
  readonly isCached: boolean;
  /** A token with which a frontend may read this batch and its runs. Undefined when the server sent none. */
  readonly publicAccessToken: string | undefined;
}
