import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { metricsPackages } from '../metrics/otlp.ts';
import { startTracing, tracingPackages } from './start.ts';

test('nothing is traced without an endpoint, or when tracing is switched off', async () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:1';
  for (const settings of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' },
  ]) {
    expect(await startTracing(settings)).toBeUndefined();
  }
});

test('every package for traces and metrics is named, in a version that package.json accepts', async () => {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  const { peerDependencies } = JSON.parse(text) as { peerDependencies: Record<string, string> };
  const named = [...new Set([...tracingPackages, ...metricsPackages])]
    .map((spec) => /^(.+)@([\d.]+)$/.exec(spec)?.slice(1))
    .toSorted(([a = ''] = [], [b = ''] = []) => (a < b ? -1 : 1));
  expect(named.map((pair) => pair?.[0])).toEqual(Object.keys(peerDependencies).toSorted());
  for (const [name = '', version = ''] of named.map((pair) => pair ?? [])) {
    const [major] = version.split('.');
    expect(peerDependencies[name], name).toMatch(
      major === '0' ? /^>=0\.\d+\.0 <0\.300\.0$/ : new RegExp(`^\\^${major}\\.`),
    );
  }
});

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
}

test('a request is in its caller’s trace; a run is the root of its attempts, regardless of which process reports them', async () => {
  const spans: Span[] = [];
  const collector = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(text) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
      };
      spans.push(...resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)));
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void collector.close());
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] =
    `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  onTestFinished(() => void delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const [first, second] = [await startTracing(), await startTracing()];
  const traceId = 'a'.repeat(32);
  const from = Date.now() - 20;
  first?.request({
    method: 'GET',
    route: '/api/v1/errors',
    status: 200,
    from,
    traceparent: `00-${traceId}-${'b'.repeat(16)}-01`,
  });
  const createdAt = Date.now() - 5_000;
  const attempt = {
    run: `run_${createdAt.toString(36)}aaaaaaaaaaaaaaaa`,
    task: 'send',
    fence: 1,
    since: Date.now() - 100,
  };
  const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;
  first?.attempt({ ...attempt, outcome: { kind: 'retry', delayMs: 1, error } }, 'retry');
  second?.attempt(
    { ...attempt, outcome: { kind: 'completed', output: null, outputType: 'application/json' } },
    'COMPLETED',
  );
  await Promise.all([first?.stop(), second?.stop()]);

  const named = (name: string) => spans.filter((span) => span.name === name);
  expect(named('GET /api/v1/errors')).toMatchObject([{ traceId, parentSpanId: 'b'.repeat(16) }]);
  const [run] = named('run send');
  expect(run).toBeDefined();
  expect(run?.parentSpanId).toBeFalsy();
  expect(Number(BigInt(run?.startTimeUnixNano ?? 0) / 1_000_000n)).toBe(createdAt);
  expect(named('attempt send')).toMatchObject([
    { traceId: run?.traceId, parentSpanId: run?.spanId, status: { code: 2 } },
    { traceId: run?.traceId, parentSpanId: run?.spanId },
  ]);
});
