/** Limits how often an action is repeated. */
export interface Throttled {
  /** Acts now, or at the end of the interval that the last action began. */
  request(): void;
  /** Acts now if an action is due. */
  flush(): void;
  /** Drops an action that is due. */
  cancel(): void;
}

/** Acts at most once in each interval, and never loses the last request. Without an interval, acts at each request. */
export function throttle(act: () => void, intervalMs: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  const flush = (): void => {
    if (!isDue) return;
    isDue = false;
    act();
  };
  const begin = (): void => {
    timer = undefined;
    if (!isDue) return;
    if (intervalMs > 0) timer = setTimeout(begin, intervalMs);
    flush();
  };
  return {
    request() {
      isDue = true;
      if (timer === undefined) begin();
    },
    flush,
    cancel() {
      clearTimeout(timer);
      timer = undefined;
      isDue = false;
    },
  };
}
