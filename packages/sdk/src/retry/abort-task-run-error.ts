/** Errors with this property prevent further attempts. */
export const abortBrand = Symbol.for('@millrace/sdk/abort-task-run');

/**
 * Throw it in a task to fail the run immediately, without its remaining attempts.
 *
 * @example
 * if (!customer) throw new AbortTaskRunError(`no customer ${payload.customerId}`);
 */
export class AbortTaskRunError extends Error {
  override readonly name = 'AbortTaskRunError';
  /** Shared by all copies of this package in one process. */
  readonly [abortBrand] = true;
}

/** Whether a thrown value prevents further attempts. */
export const asksToAbort = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && abortBrand in thrown;
