import {
  collectDefaultMetrics,
  Histogram,
  Registry,
  type Histogram as Of,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import type { ClassicHistogram, MetricFamily } from '../telemetry/exposition/family.ts';
import type { AdmissionObserver } from './admission.ts';
import { protobufOf, protobufType } from '../telemetry/exposition/protobuf.ts';
import { textOf, textType } from '../telemetry/exposition/text.ts';

/** Metrics of one operation. */
export interface RouteMetrics {
  observe(status: number, ms: number): void;
}

export interface Exposition {
  readonly type: string;
  readonly body: string | Buffer;
}

export interface HttpMetrics {
  /** All metrics, cached for one second: as protobuf with native histograms if the `Accept` header requests it, otherwise as text. */
  expose(accept: string | undefined): Promise<Exposition>;
  route(method: string, route: string): RouteMetrics;
  /** Records how long requests waited for admission. */
  readonly admission: AdmissionObserver;
  /** Also exposes the metrics that this function returns. */
  add(collect: () => Promise<readonly MetricFamily[]>): void;
}

const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const freshMs = 1_000;

/** Prometheus metrics of the process and its operations, plus any that are added. The number of requests is the histogram's `_count`. */
export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'millrace_http_request_duration_seconds',
    help: 'Time from the arrival of a request to its response, by operation and status class.',
    labelNames: ['method', 'route', 'status'],
    buckets: bucketsMs.map((ms) => ms / 1_000),
    registers: [registry],
  });
  const queued = new Histogram({
    name: 'millrace_http_queue_seconds',
    help: 'Time that requests waited for admission, by outcome: admitted, or rejected after waiting too long.',
    labelNames: ['outcome'],
    buckets: bucketsMs.map((ms) => ms / 1_000),
    registers: [registry],
  });
  const others: (() => Promise<readonly MetricFamily[]>)[] = [];
  const families = async (): Promise<MetricFamily[]> => [
    ...(await registry.getMetricsAsJSON()).map(familyOf),
    ...(await Promise.all(others.map((collect) => collect()))).flat(),
  ];
  const asText = cached(async () => ({ type: textType, body: textOf(await families()) }));
  const asProtobuf = cached(async () => ({ type: protobufType, body: protobufOf(await families()) }));

  return {
    expose: (accept) => (/application\/vnd\.google\.protobuf/.test(accept ?? '') ? asProtobuf() : asText()),
    add: (collect) => void others.push(collect),
    admission: { waited: (ms, outcome) => queued.observe({ outcome }, ms / 1_000) },
    route(method, route) {
      // Series are created on first use: series for all statuses of all operations would be two megabytes of zeros.
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

function familyOf({ name, help, type, values }: MetricObjectWithValues<MetricValue<string>>): MetricFamily {
  // prom-client's declaration has numbers, but the values are names.
  const kind = String(type);
  if (kind === 'histogram') return { name, help, type: kind, histograms: histogramsOf(values) };
  const samples = values.map(({ labels, value }) => ({ labels: textLabels(labels), value }));
  return { name, help, type: kind === 'counter' ? kind : 'gauge', samples };
}

/** prom-client lists the values of each histogram in turn: its buckets, of which the last is `+Inf`, then its sum and its count. */
function histogramsOf(values: readonly MetricValue<string>[]): ClassicHistogram[] {
  const buckets = values.findIndex(({ labels }) => labels['le'] === '+Inf');
  const size = buckets + 3;
  return Array.from({ length: values.length / size }, (_, index) => {
    const part = values.slice(index * size, (index + 1) * size);
    const { value: sum } = part[size - 2] as MetricValue<string>;
    const { value: count, labels } = part[size - 1] as MetricValue<string>;
    const cumulative = part
      .slice(0, buckets)
      .map(({ labels: { le }, value }) => [Number(le), value] as const);
    return { labels: textLabels(labels), cumulative, sum, count };
  });
}

const textLabels = (labels: MetricValue<string>['labels']): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
