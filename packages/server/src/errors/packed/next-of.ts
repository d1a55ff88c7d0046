import type { Counts } from './counts.ts';

/** A place in the order of counts; of equal ones the fingerprint that was met first comes first. */
export interface CountPlace {
  readonly count: number;
  readonly fingerprint: number;
}

/** The next `most` in the order of counts, the most first: after a place, or before it, nearest first. */
export function nextOf(
  { fingerprints, counts }: Counts,
  place: CountPlace | undefined,
  backward: boolean,
  most: number,
): CountPlace[] {
  // Backwards everything is the other way round: signs, and the order of fingerprints.
  const sign = backward ? -1 : 1;
  const bound = place === undefined ? Number.POSITIVE_INFINITY : sign * place.count;
  const after = sign * (place?.fingerprint ?? 0);
  const left = new Float64Array(counts.length);
  const from = new Int32Array(counts.length);
  let size = 0;
  for (let step = 0; step < counts.length; step++) {
    const i = backward ? counts.length - 1 - step : step;
    const count = sign * (counts[i] as number);
    if (count > bound || (count === bound && sign * (fingerprints[i] as number) <= after)) continue;
    left[size] = count;
    from[size++] = i;
  }
  // None of the wanted has less than this; of those with just as many the first few fill up.
  const least =
    size > most ? (left.subarray(0, size).toSorted()[size - most] as number) : Number.NEGATIVE_INFINITY;
  let above = 0;
  for (let at = 0; at < size; at++) if ((left[at] as number) > least) above += 1;
  let equal = most - above;
  const chosen: number[] = [];
  for (let at = 0; at < size; at++) {
    const count = left[at] as number;
    if (count > least || (count === least && equal-- > 0)) chosen.push(at);
  }
  return chosen
    .toSorted((a, b) => (left[b] as number) - (left[a] as number) || a - b)
    .map((at) => {
      const i = from[at] as number;
      return { count: counts[i] as number, fingerprint: fingerprints[i] as number };
    });
}
