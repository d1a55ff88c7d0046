import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** Counts and times of one operation. */
export interface RouteMetrics {
  observe(status: number, ms: number): void;
}

export interface HttpMetrics {
  readonly registry: Registry;
  route(method: string, route: string): RouteMetrics;
}

const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** Prometheus metrics of the process and of its operations; how many there were is the histogram's `_count`. */
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
  return {
    registry,
    route(method, route) {
      const of = [0, 1, 2, 3, 4, 5].map((status) => duration.labels(method, route, `${status}xx`));
      return { observe: (status, ms) => of[Math.floor(status / 100)]?.observe(ms / 1_000) };
    },
  };
}
