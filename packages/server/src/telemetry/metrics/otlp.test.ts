import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Times } from '../stats/buckets.ts';
import { startOtlpMetrics } from './otlp.ts';

test('nothing is sent without an endpoint, or when metrics are switched off', async () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:1';
  for (const settings of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRICS_EXPORTER: 'none' },
  ])
    expect(await startOtlpMetrics(async () => [], settings)).toBeUndefined();
});

interface Metric {
  readonly name: string;
}

test('counters, gauges and exponential histograms reach a collector with their origin', async () => {
  const metrics = new Map<string, Metric>();
  const attributes: unknown[] = [];
  const collector = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      expect(request.url).toBe('/v1/metrics');
      const { resourceMetrics } = JSON.parse(text) as {
        resourceMetrics: { resource: { attributes: unknown[] }; scopeMetrics: { metrics: Metric[] }[] }[];
      };
      for (const { resource, scopeMetrics } of resourceMetrics) {
        attributes.push(...resource.attributes);
        for (const metric of scopeMetrics.flatMap((scope) => scope.metrics)) metrics.set(metric.name, metric);
      }
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void collector.close());
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] =
    `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  onTestFinished(() => void delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']);

  const times = new Times();
  for (const ms of [999, 1_000, 1_001, 8_000]) times.observe(ms);
  const labels = { task: 'mail' };
  const otlp = await startOtlpMetrics(
    async () => [
      { name: 'a_total', help: 'A.', type: 'counter', samples: [{ labels, value: 3 }] },
      { name: 'b', help: 'B.', type: 'gauge', samples: [{ labels: {}, value: 0.5 }] },
      {
        name: 'c_seconds',
        help: 'C.',
        type: 'histogram',
        histograms: [{ labels, schema: 3, buckets: times.counts, sum: 11, count: 4, bounds: [] }],
      },
    ],
    { ...process.env, OTEL_METRIC_EXPORT_INTERVAL: '200' },
  );
  await expect.poll(() => metrics.size, { timeout: 10_000 }).toBe(3);
  await otlp?.stop();

  const attribute = [{ key: 'task', value: { stringValue: 'mail' } }];
  expect(metrics.get('a_total')).toMatchObject({
    sum: {
      isMonotonic: true,
      aggregationTemporality: 2,
      dataPoints: [{ asDouble: 3, attributes: attribute }],
    },
  });
  expect(metrics.get('b')).toMatchObject({ gauge: { dataPoints: [{ asDouble: 0.5 }] } });
  // Up to a second, up to 2^(1/8), and up to eight: OpenTelemetry's bucket i begins at 2^(i/8).
  const positive = { offset: -1, bucketCounts: [2, 1, ...Array.from({ length: 22 }, () => 0), 1] };
  expect(metrics.get('c_seconds')).toMatchObject({
    unit: 's',
    exponentialHistogram: { dataPoints: [{ scale: 3, sum: 11, positive, attributes: attribute }] },
  });
  expect(attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'millrace' } });
  expect(attributes).toContainEqual({
    key: 'service.instance.id',
    value: { stringValue: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
});
