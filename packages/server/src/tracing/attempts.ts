import type { TracedAttempt, Tracing } from './tracing.ts';

/** The verb that records how attempts end, telling of each; the very same one when nothing is traced. */
export function tracingAttempts<E extends TracedAttempt, R extends { readonly kind: string | undefined }>(
  tracing: Pick<Tracing, 'attempt'> | undefined,
  settle: (ended: E) => Promise<R>,
): (ended: E) => Promise<R> {
  if (!tracing) return settle;
  return async (ended) => {
    const settled = await settle(ended);
    // One whose lease was gone recorded nothing.
    if (settled.kind !== undefined) tracing.attempt(ended, settled.kind);
    return settled;
  };
}
