import type { NewRun } from './row.ts';

/**
 * Runs of one request, which are prepared at the same time. Runs whose payloads are collected proceed once all are prepared, in the order
 * of the request; the others proceed immediately.
 */
export function inOrder(count: number): (index: number, preparing: Promise<NewRun>) => Promise<NewRun> {
  const waiting: (() => void)[] = [];
  let left = count;
  const arrive = (): void => {
    left -= 1;
    // The last one must wait before it can proceed.
    if (left === 0)
      queueMicrotask(() => {
        for (const goOn of Object.values(waiting)) goOn();
      });
  };
  return async (index, preparing) => {
    const run = await preparing.catch((error: unknown) => {
      arrive();
      throw error;
    });
    if (!run.collection) {
      arrive();
      return run;
    }
    await new Promise<void>((resolve) => {
      waiting[index] = resolve;
      arrive();
    });
    return run;
  };
}
