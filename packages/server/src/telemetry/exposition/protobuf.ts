import { PbfWriter } from 'pbf';
import {
  classicBuckets,
  type ClassicHistogram,
  type Labels,
  type MetricFamily,
  type NativeHistogram,
} from './family.ts';

/**
 * The protobuf format of Prometheus (`io.prometheus.client.MetricFamily`, each preceded by its length), which supports native histograms.
 * Neither prom-client nor the OpenTelemetry exporter writes it.
 */
export const protobufType =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';

export function protobufOf(families: readonly MetricFamily[]): Buffer {
  const pbf = new PbfWriter();
  for (const family of families) pbf.writeRawMessage(writeFamily, family);
  return Buffer.from(pbf.finish());
}

const types = { counter: 0, gauge: 1, histogram: 4 } as const;
/** The value that Prometheus' own libraries send; it marks a histogram as native. */
const zeroThreshold = 2 ** -128;

function writeFamily(family: MetricFamily, pbf: PbfWriter): void {
  pbf.writeStringField(1, family.name);
  pbf.writeStringField(2, family.help);
  pbf.writeVarintField(3, types[family.type]);
  if (family.type === 'histogram') {
    for (const histogram of family.histograms)
      pbf.writeMessage(4, writeMetric, {
        labels: histogram.labels,
        field: 7,
        write: () => writeHistogram(histogram, pbf),
      });
    return;
  }
  const field = family.type === 'gauge' ? 2 : 3;
  for (const { labels, value } of family.samples)
    pbf.writeMessage(4, writeMetric, { labels, field, write: () => pbf.writeDoubleField(1, value) });
}

interface Metric {
  readonly labels: Labels;
  /** The field of its value, by its type. */
  readonly field: number;
  readonly write: () => void;
}

function writeMetric({ labels, field, write }: Metric, pbf: PbfWriter): void {
  for (const label of Object.entries(labels)) pbf.writeMessage(1, writeLabel, label);
  pbf.writeMessage(field, write, undefined);
}

function writeLabel([name, value]: readonly [string, string], pbf: PbfWriter): void {
  pbf.writeStringField(1, name);
  pbf.writeStringField(2, value);
}

function writeHistogram(histogram: NativeHistogram | ClassicHistogram, pbf: PbfWriter): void {
  pbf.writeVarintField(1, histogram.count);
  pbf.writeDoubleField(2, histogram.sum);
  for (const bucket of classicBuckets(histogram)) pbf.writeMessage(3, writeBucket, bucket);
  if ('cumulative' in histogram) return;
  pbf.writeSVarintField(5, histogram.schema);
  pbf.writeDoubleField(6, zeroThreshold);
  pbf.writeVarintField(7, 0);
  // Spans of buckets without a gap, each with its distance from the previous one, then the counts, each as the difference from the previous
  // one.
  const ordered = [...histogram.buckets].toSorted(([a], [b]) => a - b);
  const spans: { offset: number; length: number }[] = [];
  let next: number | undefined;
  for (const [bucket] of ordered) {
    const last = spans.at(-1);
    if (last && bucket === next) last.length++;
    else spans.push({ offset: bucket - (next ?? 0), length: 1 });
    next = bucket + 1;
  }
  for (const span of spans) pbf.writeMessage(12, writeSpan, span);
  let before = 0;
  for (const [, count] of ordered) {
    pbf.writeSVarintField(13, count - before);
    before = count;
  }
}

function writeBucket([bound, count]: readonly [number, number], pbf: PbfWriter): void {
  pbf.writeVarintField(1, count);
  pbf.writeDoubleField(2, bound);
}

function writeSpan(
  { offset, length }: { readonly offset: number; readonly length: number },
  pbf: PbfWriter,
): void {
  pbf.writeSVarintField(1, offset);
  pbf.writeVarintField(2, length);
}
