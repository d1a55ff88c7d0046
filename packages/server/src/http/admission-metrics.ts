import type { MetricFamily } from '../telemetry/exposition/family.ts';
import type { Admission } from './admission.ts';

/** The state of the admission of requests. The times are a histogram of `HttpMetrics`, whose count is the number of requests that waited. */
export function admissionFamilies({ load }: Pick<Admission, 'load'>): MetricFamily[] {
  const family = (name: string, type: 'counter' | 'gauge', help: string, value: number): MetricFamily => ({
    name,
    type,
    help,
    samples: [{ labels: {}, value }],
  });
  return [
    family(
      'millrace_http_admitted_immediately_total',
      'counter',
      'Requests that were admitted without waiting.',
      load.immediate,
    ),
    family('millrace_http_waiting', 'gauge', 'Requests waiting for admission.', load.waiting),
    family('millrace_http_units_in_use', 'gauge', 'Units of work of the requests in progress.', load.used),
  ];
}
