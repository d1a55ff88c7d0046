/**
 * What to add to times of a runner's clock so that they lie between the start and the end of their attempt, which are of the server's. All of an
 * attempt are moved alike, so distances stay true. 0 where the clocks agree.
 */
export function clockOffset(first: number, last: number, startedAt: number, endedAt: number): number {
  const least = startedAt - first;
  const most = endedAt - last;
  // Longer than the attempt: its start counts.
  if (least > 0 || least > most) return least;
  return Math.min(0, most);
}
