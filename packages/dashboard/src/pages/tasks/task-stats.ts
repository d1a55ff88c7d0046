import type { StatsCounts } from '@millrace/contract';

/** Runs that did not do what they should. */
export const failuresOf = ({ failed, crashed, systemFailure, timedOut }: StatsCounts): number =>
  failed + crashed + systemFailure + timedOut;

/** `98.5 %`, or undefined where nothing ended. A rate that is not quite 100 % never reads so. */
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
