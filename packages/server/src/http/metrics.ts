import { collectDefaultMetrics, Histogram, Registry, type Histogram as Of } from 'prom-client';

/** Metrics of one operation. */
export interface RouteMetrics {
  observe(status: number, ms: number): void;
}

export interface HttpMetrics {
  readonly contentType: string;
  /** All metrics in Prometheus text format, cached for one second. */
  text(): Promise<string>;
  route(method: string, route: string): RouteMetrics;
}

const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const freshMs = 1_000;

/** Prometheus metrics of the process and its operations. The number of requests is the histogram's `_count`. */
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
  let written: Promise<string> | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    contentType: registry.contentType,
    text() {
      const now = performance.now();
      if (!written || now - writtenAt > freshMs) {
        written = registry.metrics();
        writtenAt = now;
        written.catch(() => (written = undefined));
      }
      return written;
    },
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
