/** Shows the first items of each second, and how many more there were. */
export function throttle<T>(
  show: (item: T) => void,
  reportRest: (count: number) => void,
  now: () => number = () => performance.now(),
  maxPerSecond = 20,
): (item: T) => void {
  let since = Number.NEGATIVE_INFINITY;
  let shownCount = 0;
  let left = 0;
  let timer: NodeJS.Timeout | undefined;
  const sayRest = (): void => {
    timer = undefined;
    if (left > 0) reportRest(left);
    left = 0;
  };
  return (item) => {
    if (now() - since >= 1_000) {
      since = now();
      shownCount = 0;
    }
    if (shownCount >= maxPerSecond) {
      left += 1;
      timer ??= setTimeout(sayRest, 1_000).unref();
      return;
    }
    shownCount += 1;
    show(item);
  };
}
