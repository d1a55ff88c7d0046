import type { Attempt, TimelineEntry } from '@millrace/contract';

/** An attempt in the timeline. Several may have the same number. */
export interface Lived {
  /** The id of its entry. */
  readonly id: string;
  readonly number: number;
  readonly status: Attempt['status'];
  readonly from: number;
  readonly until: number | undefined;
}

/** An entry with its sort time in milliseconds, including fractions. */
export interface Placed {
  readonly entry: TimelineEntry;
  readonly at: number;
}

/** The attempt, with this number if given, that was live at a time: the last one that had begun, otherwise the first. */
export function whichLived(
  lived: readonly Lived[] | undefined,
  at: number,
  number?: number,
): Lived | undefined {
  const of = number === undefined ? lived : lived?.filter((one) => one.number === number);
  return of?.findLast((one) => one.from <= at) ?? of?.[0];
}
