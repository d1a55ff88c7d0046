import type { StatsCounts } from '@millrace/contract';
import { failuresOf } from '../../parts/plot/run-stats.ts';

/** `98.5 %`, or undefined if nothing ended. A rate below 100 % is never rounded up to it. */
export function rateText(rate: number | null | undefined): string | undefined {
  if (rate == null) return undefined;
  const percent = rate * 100;
  if (percent > 99.9 && percent < 100) return '99.9 %';
  return `${percent.toFixed(percent === 100 || percent === 0 ? 0 : 1)} %`;
}

export function successOf(total: StatsCounts): number | null {
  const failures = failuresOf(total);
  return total.completed + failures === 0 ? null : total.completed / (total.completed + failures);
}
