/** A batch that was triggered. */
export interface BatchHandle {
  /** `batch_…`; empty for a batch without items, of which the server has nothing. */
  readonly batchId: string;
  readonly runCount: number;
  /** True when an idempotency key found a batch that was there already: none of these items were sent. */
  readonly isCached: boolean;
  /** A token for a frontend that may read this batch and its runs. Undefined when the server sent none. */
  readonly publicAccessToken: string | undefined;
}
