import type { Attempt, TimelineEntry } from '@millrace/contract';

/** An attempt in the timeline. Several may have the same number. */
export interface Lived {
  /** Of its entry. */
  readonly id: string;
  readonly number: number;
  readonly status: Attempt['status'];
  readonly from: number;
  readonly until: number | undefined;
}

/** An entry with the moment by which it is ordered: milliseconds with their fractions. */
export interface Placed {
  readonly entry: TimelineEntry;
  readonly at: number;
}

/** The attempt of this number, if given, that lived at a moment: the last one that had begun, else the first. */
export function whichLived(
  lived: readonly Lived[] | undefined,
  at: number,
  number?: number,
): Lived | undefined {
  const of = number === undefined ? lived : lived?.filter((one) => one.number === number);
  return of?.findLast((one) => one.from <= at) ?? of?.[0];
}
