/**
 * The offset to add to times of a runner's clock so that they lie between the start and end of their attempt, which use the server's clock. All
 * times of an attempt move by the same amount, so distances are preserved. 0 if the clocks agree.
 */
export function clockOffset(first: number, last: number, startedAt: number, endedAt: number): number {
  const least = startedAt - first;
  const max = endedAt - last;
  // Longer than the attempt: aligned with its start.
  if (least > 0 || least > max) return least;
  return Math.min(0, max);
}
