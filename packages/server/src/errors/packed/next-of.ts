import { grow, room, type Counts } from './counts.ts';
import { largest } from './largest.ts';

/** A position in the order of counts; of equal ones the fingerprint that was met first comes first. */
export interface CountPosition {
  readonly count: number;
  readonly fingerprint: number;
}

const lefts = room();

/** The next `most` in the order of counts, the most first: after a position, or before it, nearest first. */
export function nextOf(
  { fingerprints, counts }: Counts,
  position: CountPosition | undefined,
  backward: boolean,
  most: number,
): CountPosition[] {
  // Backwards everything is the other way round: signs, and the order of fingerprints.
  const sign = backward ? -1 : 1;
  const bound = position === undefined ? Number.POSITIVE_INFINITY : sign * position.count;
  const after = sign * (position?.fingerprint ?? 0);
  const isNext = (i: number, count: number): boolean =>
    count < bound || (count === bound && sign * (fingerprints[i] as number) > after);

  const left = grow(lefts, counts.length).counts;
  let size = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = sign * (counts[i] as number);
    if (isNext(i, count)) left[size++] = count;
  }
  // None of the wanted has less than this; of those with just as many the first few fill up.
  const least = size > most ? largest(left.subarray(0, size), most) : Number.NEGATIVE_INFINITY;
  const chosen: CountPosition[] = [];
  const equal: CountPosition[] = [];
  for (let step = 0; step < counts.length; step++) {
    const i = backward ? counts.length - 1 - step : step;
    const count = sign * (counts[i] as number);
    if (count < least || (count === least && equal.length === most) || !isNext(i, count)) continue;
    const next = { count: counts[i] as number, fingerprint: fingerprints[i] as number };
    if (count === least) equal.push(next);
    else chosen.push(next);
  }
  // Those with as many are in order already, and stay so.
  return [...chosen.toSorted((a, b) => sign * (b.count - a.count)), ...equal].slice(0, most);
}
