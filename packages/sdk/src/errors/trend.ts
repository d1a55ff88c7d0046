import type { ErrorTrend as WireTrend } from '@millrace/contract';

/** How often an error group occurred, interval by interval of `intervalMs` milliseconds, oldest first; the last one is still running. */
export interface ErrorTrend {
  readonly intervalMs: number;
  readonly points: readonly { readonly from: Date; readonly count: number }[];
}

export const trendFromWire = ({ intervalMs, points }: WireTrend): ErrorTrend => ({
  intervalMs,
  points: points.map(({ from, count }) => ({ from: new Date(from), count })),
});
