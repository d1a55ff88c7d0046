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

/** Room for counts that is used again: taken anew for every step, they would keep the garbage collector busier than the sums do. */
export interface Room {
  fingerprints: Int32Array;
  counts: Float64Array;
}

export const room = (): Room => ({ fingerprints: new Int32Array(0), counts: new Float64Array(0) });

export function grow(into: Room, size: number): Room {
  if (into.counts.length < size) {
    into.fingerprints = new Int32Array(size * 2);
    into.counts = new Float64Array(size * 2);
  }
  return into;
}

export const firstOf = ({ fingerprints, counts }: Counts, size: number): Counts => ({
  fingerprints: fingerprints.subarray(0, size),
  counts: counts.subarray(0, size),
});

const unpacked = room();

/** Good until the next are unpacked. */
export function unpack(bytes: Buffer, size: number): Counts {
  const { fingerprints, counts } = grow(unpacked, size);
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
  return firstOf(unpacked, size);
}

export interface Signed extends Counts {
  /** Added, or with -1 taken away. */
  readonly sign: number;
}

/** Adds counts up, in a room. Fingerprints of which nothing is left are left out. */
function add(one: Counts, other: Signed, into: Room): Counts {
  const [a, b] = [one.fingerprints, other.fingerprints];
  const { fingerprints, counts } = grow(into, a.length + b.length);
  let size = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i] as number;
    const right = b[j] as number;
    let count = 0;
    if (left <= right) count += one.counts[i++] as number;
    if (right <= left) count += other.sign * (other.counts[j++] as number);
    if (count === 0) continue;
    fingerprints[size] = left < right ? left : right;
    counts[size++] = count;
  }
  // One of them has come to its end.
  fingerprints.set(a.subarray(i), size);
  counts.set(one.counts.subarray(i), size);
  size += a.length - i;
  fingerprints.set(b.subarray(j), size);
  for (; j < b.length; j++) counts[size++] = other.sign * (other.counts[j] as number);
  return firstOf(into, size);
}

const sums = [room(), room()] as const;

/** All of them together. The shortest had better come first: what there is so far is gone through with each. */
export function sum(parts: Iterable<Signed>): Counts {
  let [into, next] = sums;
  let all = noCounts;
  for (const part of parts) {
    all = add(all, part, into);
    [into, next] = [next, into];
  }
  return { fingerprints: all.fingerprints.slice(), counts: all.counts.slice() };
}

/** Counts of those fingerprints that are in a list, which is in order. */
export function only({ fingerprints, counts }: Counts, wanted: Int32Array): Counts {
  const most = Math.min(fingerprints.length, wanted.length);
  const kept = { fingerprints: new Int32Array(most), counts: new Float64Array(most) };
  let size = 0;
  let at = 0;
  for (let place = 0; place < fingerprints.length; place++) {
    const fingerprint = fingerprints[place] as number;
    while (at < wanted.length && (wanted[at] as number) < fingerprint) at += 1;
    if (wanted[at] !== fingerprint) continue;
    kept.fingerprints[size] = fingerprint;
    kept.counts[size++] = counts[place] as number;
  }
  return firstOf(kept, size);
}
