/** Shows the first items of each second, and the number of further ones. */
export function throttle<T>(
  show: (item: T) => void,
  tellRest: (count: number) => void,
  now: () => number = () => performance.now(),
  maxPerSecond = 20,
): (item: T) => void {
  let since = Number.NEGATIVE_INFINITY;
  let shown = 0;
  let left = 0;
  let timer: NodeJS.Timeout | undefined;
  const sayRest = (): void => {
    timer = undefined;
    if (left > 0) tellRest(left);
    left = 0;
  };
  return (item) => {
    if (now() - since >= 1_000) {
      since = now();
      shown = 0;
    }
    if (shown >= maxPerSecond) {
      left += 1;
      timer ??= setTimeout(sayRest, 1_000).unref();
      return;
    }
    shown += 1;
    show(item);
  };
}
