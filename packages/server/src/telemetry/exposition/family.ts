/** Metrics in the form shared by all exposition formats. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** A histogram with native buckets: bucket i ends at 2^(i / 2^schema). */
export interface NativeHistogram {
  readonly labels: Labels;
  readonly schema: number;
  readonly buckets: ReadonlyMap<number, number>;
  readonly sum: number;
  readonly count: number;
  /** The bounds of classic buckets. Each is also a native bound, so the counts of both agree. */
  readonly bounds: readonly number[];
}

/** A histogram that has only classic buckets. */
export interface ClassicHistogram {
  readonly labels: Labels;
  /** Upper bounds with the number of values up to each. */
  readonly cumulative: readonly (readonly [bound: number, count: number])[];
  readonly sum: number;
  readonly count: number;
}

export type MetricFamily = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly samples: readonly Sample[] }
  | { readonly type: 'histogram'; readonly histograms: readonly (NativeHistogram | ClassicHistogram)[] }
);

/** The classic buckets of a histogram. */
export function classicBuckets(
  histogram: NativeHistogram | ClassicHistogram,
): readonly (readonly [number, number])[] {
  if ('cumulative' in histogram) return histogram.cumulative;
  const ordered = [...histogram.buckets].toSorted(([a], [b]) => a - b);
  let [at, count] = [0, 0];
  return histogram.bounds.map((bound) => {
    const last = Math.round(Math.log2(bound) * 2 ** histogram.schema);
    for (; at < ordered.length && (ordered[at] as readonly [number, number])[0] <= last; at++)
      count += (ordered[at] as readonly [number, number])[1];
    return [bound, count] as const;
  });
}
