/** How often each of many fingerprints occurred: two columns of equal length, ordered by fingerprint, each of those once. */
export interface Counts {
  readonly fingerprints: Int32Array;
  readonly counts: Float64Array;
}

export const noCounts: Counts = { fingerprints: new Int32Array(0), counts: new Float64Array(0) };

/** A fingerprint at most 5 bytes, a count that is exact as a number 8. */
const longest = 13;

/**
 * Counts as bytes: for each fingerprint how far it is from the one before, then its count; both in groups of seven bits, the lowest first,
 * the eighth bit set where more follow. Most fit into one byte each.
 */
export function pack({ fingerprints, counts }: Counts): Buffer {
  const bytes = Buffer.allocUnsafe(fingerprints.length * longest);
  let size = 0;
  const write = (value: number): void => {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[size++] = 128 + (rest % 128);
    bytes[size++] = rest;
  };
  let before = 0;
  for (let place = 0; place < fingerprints.length; place++) {
    const fingerprint = fingerprints[place] as number;
    write(fingerprint - before);
    write(counts[place] as number);
    before = fingerprint;
  }
  return bytes.subarray(0, size);
}

export function unpack(bytes: Buffer, size: number): Counts {
  const fingerprints = new Int32Array(size);
  const counts = new Float64Array(size);
  let at = 0;
  const read = (): number => {
    let byte = bytes[at++] as number;
    if (byte < 128) return byte;
    let value = byte - 128;
    for (let factor = 128; ; factor *= 128) {
      byte = bytes[at++] as number;
      if (byte < 128) return value + byte * factor;
      value += (byte - 128) * factor;
    }
  };
  let before = 0;
  for (let place = 0; place < size; place++) {
    before += read();
    fingerprints[place] = before;
    counts[place] = read();
  }
  return { fingerprints, counts };
}

/** Adds counts up. Fingerprints of which nothing is left are left out where both have them. */
export function add(one: Counts, other: Counts): Counts {
  const [a, b] = [one.fingerprints, other.fingerprints];
  const fingerprints = new Int32Array(a.length + b.length);
  const counts = new Float64Array(a.length + b.length);
  let size = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i] as number;
    const right = b[j] as number;
    let count = 0;
    if (left <= right) count += one.counts[i++] as number;
    if (right <= left) count += other.counts[j++] as number;
    if (count === 0) continue;
    fingerprints[size] = Math.min(left, right);
    counts[size++] = count;
  }
  const [rest, from] = i < a.length ? [one, i] : [other, j];
  fingerprints.set(rest.fingerprints.subarray(from), size);
  counts.set(rest.counts.subarray(from), size);
  size += rest.counts.length - from;
  return { fingerprints: fingerprints.subarray(0, size), counts: counts.subarray(0, size) };
}

export interface Signed extends Counts {
  /** Added, or with -1 taken away. */
  readonly sign: number;
}

/** All of them together, always the two shortest first, so that none is gone through often. */
export function sum(parts: readonly Signed[]): Counts {
  const left: Counts[] = parts.map(({ sign, fingerprints, counts }) => ({
    fingerprints,
    counts: sign === 1 ? counts : counts.map((count) => -count),
  }));
  for (;;) {
    left.sort((a, b) => b.counts.length - a.counts.length);
    const one = left.pop();
    const other = left.pop();
    if (!one || !other) return one ?? noCounts;
    left.push(add(one, other));
  }
}

/** Counts of those fingerprints that are in a list, which is in order. */
export function only({ fingerprints, counts }: Counts, wanted: Int32Array): Counts {
  const kept: number[] = [];
  let at = 0;
  fingerprints.forEach((fingerprint, place) => {
    while (at < wanted.length && (wanted[at] as number) < fingerprint) at += 1;
    if (wanted[at] === fingerprint) kept.push(place);
  });
  return {
    fingerprints: Int32Array.from(kept, (place) => fingerprints[place] as number),
    counts: Float64Array.from(kept, (place) => counts[place] as number),
  };
}
