import type { ErrorTrend as WireTrend } from '@millrace/contract';

/** How often an error group occurred in each interval of `intervalMs` milliseconds, oldest first; the last interval is still in progress. */
export interface ErrorTrend {
  readonly intervalMs: number;
  readonly points: readonly { readonly from: Date; readonly count: number }[];
}

export const trendFromWire = ({ intervalMs, points }: WireTrend): ErrorTrend => ({
  intervalMs,
  points: points.map(({ from, count }) => ({ from: new Date(from), count })),
});
