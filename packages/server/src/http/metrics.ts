import {
  collectDefaultMetrics,
  Histogram,
  Registry,
  type Histogram as Of,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import type { ClassicHistogram, MetricFamily } from '../telemetry/exposition/family.ts';
import { protobufOf, protobufType } from '../telemetry/exposition/protobuf.ts';
import { textOf } from '../telemetry/exposition/text.ts';

/** Metrics of one operation. */
export interface RouteMetrics {
  observe(status: number, ms: number): void;
}

export interface Exposition {
  readonly type: string;
  readonly body: string | Buffer;
}

export interface HttpMetrics {
  /** All metrics, cached for one second: as protobuf if the `Accept` of a request asks for it, which carries native histograms; else as text. */
  expose(accept: string | undefined): Promise<Exposition>;
  route(method: string, route: string): RouteMetrics;
  /** Also exposes what this returns. */
  add(collect: () => Promise<readonly MetricFamily[]>): void;
}

const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const freshMs = 1_000;

/** Prometheus metrics of the process and its operations, and those that are added. The number of requests is the histogram's `_count`. */
export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'millrace_http_request_duration_seconds',
    help: 'Time from the arrival of a request to its answer, by operation and status class.',
    labelNames: ['method', 'route', 'status'],
    buckets: bucketsMs.map((ms) => ms / 1_000),
    registers: [registry],
  });
  const others: (() => Promise<readonly MetricFamily[]>)[] = [];
  const collectOthers = async (): Promise<MetricFamily[]> =>
    (await Promise.all(others.map((collect) => collect()))).flat();

  const asText = cached(async () => ({
    type: registry.contentType,
    body: (await registry.metrics()) + textOf(await collectOthers()),
  }));
  const asProtobuf = cached(async () => {
    const own = await registry.getMetricsAsJSON();
    return { type: protobufType, body: protobufOf([...own.map(familyOf), ...(await collectOthers())]) };
  });

  return {
    expose: (accept) => (/application\/vnd\.google\.protobuf/.test(accept ?? '') ? asProtobuf() : asText()),
    add: (collect) => void others.push(collect),
    route(method, route) {
      // Series are created on first use: all statuses of all operations would be two megabytes of zeros.
      const of: (Of.Internal<'method' | 'route' | 'status'> | undefined)[] = [];
      return {
        observe(status, ms) {
          const kind = Math.floor(status / 100);
          (of[kind] ??= duration.labels(method, route, `${kind}xx`)).observe(ms / 1_000);
        },
      };
    },
  };
}

function cached(write: () => Promise<Exposition>): () => Promise<Exposition> {
  let written: Promise<Exposition> | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (!written || now - writtenAt > freshMs) {
      written = write();
      writtenAt = now;
      written.catch(() => (written = undefined));
    }
    return written;
  };
}

/** A metric of prom-client, which names the parts of a histogram apart. */
function familyOf(metric: MetricObjectWithValues<MetricValue<string>>): MetricFamily {
  const { name, help } = metric;
  const type = String(metric.type);
  if (type !== 'histogram') {
    const samples = metric.values.map(({ labels, value }) => ({ labels: textLabels(labels), value }));
    return { name, help, type: type === 'counter' ? 'counter' : 'gauge', samples };
  }
  const byLabels = new Map<
    string,
    { labels: Record<string, string>; cumulative: [number, number][]; sum: number; count: number }
  >();
  for (const { labels, value, metricName = '' } of metric.values as (MetricValue<string> & {
    metricName?: string;
  })[]) {
    const { le, ...rest } = textLabels(labels);
    const key = JSON.stringify(rest);
    const one = byLabels.get(key) ?? { labels: rest, cumulative: [], sum: 0, count: 0 };
    byLabels.set(key, one);
    if (metricName.endsWith('_sum')) one.sum = value;
    else if (metricName.endsWith('_count')) one.count = value;
    else if (le !== '+Inf') one.cumulative.push([Number(le), value]);
  }
  return { name, help, type: 'histogram', histograms: [...byLabels.values()] satisfies ClassicHistogram[] };
}

const textLabels = (labels: Readonly<Partial<Record<string, string | number>>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
