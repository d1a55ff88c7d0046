/**
 * Histograms of times in exponential buckets: bucket i counts durations longer than 2^((i-1)/8) seconds and up to 2^(i/8). A value read
 * from one is at most 9% too large. They are the buckets of Prometheus' native histograms with schema 3 and of OpenTelemetry's exponential
 * histograms with scale 3, so the same counts serve for time series, Prometheus and OTLP. Any two can be added.
 */

/** Buckets for each factor of two. */
const perOctave = 8;
export const schema = 3;

/** A millisecond or less. */
export const minBucket = -79;
/** 12 days or more. */
export const maxBucket = 160;

/** The bucket of a time in milliseconds. */
export const bucketOf = (ms: number): number =>
  ms <= 1 ? minBucket : Math.min(maxBucket, Math.ceil(perOctave * Math.log2(ms / 1_000) - 1e-9));

/** The longest time of a bucket, in seconds. */
export const boundOf = (bucket: number): number => 2 ** (bucket / perOctave);

/** A histogram that grows. */
export class Times {
  readonly counts = new Map<number, number>();
  /** Total in milliseconds. */
  sum = 0;
  count = 0;

  observe(ms: number): void {
    const bucket = bucketOf(ms);
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + 1);
    this.sum += ms;
    this.count++;
  }

  add(other: Times): void {
    for (const [bucket, n] of other.counts) this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + n);
    this.sum += other.sum;
    this.count += other.count;
  }

  /** In the form of `run_stats`: the counts of consecutive buckets, and the index of the first. */
  dense(): { readonly from: number | null; readonly counts: number[] } {
    if (this.counts.size === 0) return { from: null, counts: [] };
    const buckets = [...this.counts.keys()];
    const from = Math.min(...buckets);
    const size = Math.max(...buckets) - from + 1;
    return { from, counts: Array.from({ length: size }, (_, index) => this.counts.get(from + index) ?? 0) };
  }

  /** Adds counts in this form. The caller adds their sum. */
  addDense(from: number, counts: ArrayLike<number>): void {
    for (let index = 0; index < counts.length; index++) {
      const n = counts[index] ?? 0;
      if (n === 0) continue;
      this.counts.set(from + index, (this.counts.get(from + index) ?? 0) + n);
      this.count += n;
    }
  }

  /**
   * For each share from 0 to 1, in ascending order, the time in milliseconds that this share of the values did not exceed; undefined if nothing
   * was counted. Within a bucket the values are assumed to be evenly distributed.
   */
  quantiles(shares: readonly number[]): (number | undefined)[] {
    const ordered = [...this.counts].toSorted(([a], [b]) => a - b);
    let at = 0;
    let before = 0;
    return shares.map((share) => {
      const target = share * this.count;
      for (; at < ordered.length; at++) {
        const [bucket, n] = ordered[at] as [number, number];
        if (before + n >= target) {
          const low = bucket === minBucket ? 0 : boundOf(bucket - 1);
          return (low + ((boundOf(bucket) - low) * Math.max(0, target - before)) / n) * 1_000;
        }
        before += n;
      }
      return undefined;
    });
  }
}
