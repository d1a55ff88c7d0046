import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { ClassicHistogram, MetricFamily, NativeHistogram } from '../exposition/family.ts';

const maxShutdownMs = 3_000;

/** Sends what `collect` returns over OTLP/HTTP. The library itself reads the standard variables for address and headers. */
export function exportMetrics(
  collect: () => Promise<readonly MetricFamily[]>,
  exportIntervalMillis: number,
): {
  /** Sends the current metrics. */
  stop(): Promise<void>;
} {
  const startTime = nanoTime(Date.now());
  const resource = defaultResource()
    // Every process sends the values of the whole installation, distinguished by the instance.
    .merge(resourceFromAttributes({ 'service.name': 'millrace', 'service.instance.id': randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
  const producer: MetricProducer = {
    async collect() {
      const families = await collect();
      const times = { startTime, endTime: nanoTime(Date.now()) };
      const metrics = families.flatMap((family) => dataOf(family, times));
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'millrace' }, metrics }] },
        errors: [],
      };
    },
  };
  const exporter = new OTLPMetricExporter({ temporalityPreference: AggregationTemporality.CUMULATIVE });
  const exportTimeoutMillis = Math.min(exportIntervalMillis, 30_000);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis,
    exportTimeoutMillis,
    metricProducers: [producer],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return {
    // An unresponsive collector must not prevent this process from ending.
    stop: () =>
      Promise.race([provider.shutdown().catch(() => {}), sleep(maxShutdownMs, undefined, { ref: false })]),
  };
}

type Time = [seconds: number, nanoseconds: number];
interface Times {
  readonly startTime: Time;
  readonly endTime: Time;
}

const nanoTime = (ms: number): Time => [Math.floor(ms / 1_000), (ms % 1_000) * 1e6];

function dataOf(family: MetricFamily, times: Times): MetricData[] {
  const unit = /_seconds(_total)?$/.test(family.name) ? 's' : '1';
  const base = {
    // A double: most values are times.
    descriptor: { name: family.name, description: family.help, unit, valueType: 1 },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (family.type === 'histogram') {
    const native = family.histograms.filter(
      (histogram): histogram is NativeHistogram => 'schema' in histogram,
    );
    if (native.length === 0) return [];
    const dataPoints = native.map((histogram) => ({
      ...times,
      attributes: { ...histogram.labels },
      value: exponentialOf(histogram),
    }));
    return [{ ...base, dataPointType: DataPointType.EXPONENTIAL_HISTOGRAM, dataPoints }];
  }
  const dataPoints = family.samples.map(({ labels, value }) => ({
    ...times,
    attributes: { ...labels },
    value,
  }));
  return family.type === 'counter'
    ? [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
    : [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }];
}

/** Buckets are numbered from their lower bound here, and from their upper bound in Prometheus. */
function exponentialOf({ schema: scale, buckets, sum, count }: Exclude<NativeHistogram, ClassicHistogram>) {
  const numbers = [...buckets.keys()];
  const first = numbers.length === 0 ? 0 : Math.min(...numbers);
  const last = numbers.length === 0 ? -1 : Math.max(...numbers);
  return {
    scale,
    sum,
    count,
    zeroCount: 0,
    positive: {
      offset: first - 1,
      bucketCounts: Array.from({ length: last - first + 1 }, (_, index) => buckets.get(first + index) ?? 0),
    },
    negative: { offset: 0, bucketCounts: [] },
  };
}
