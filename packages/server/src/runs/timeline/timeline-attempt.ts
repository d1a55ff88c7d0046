import type { Attempt, TimelineEntry } from '@millrace/contract';

/** An attempt in the timeline. Several may have the same number. */
export interface TimelineAttempt {
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

/** The attempt (with this number, if given) that was live at a given time: the last one that had begun, otherwise the first. */
export function attemptAt(
  attempts: readonly TimelineAttempt[] | undefined,
  at: number,
  number?: number,
): TimelineAttempt | undefined {
  const of = number === undefined ? attempts : attempts?.filter((attempt) => attempt.number === number);
  return of?.findLast((attempt) => attempt.from <= at) ?? of?.[0];
}
