import { onTestFinished } from 'vitest';
import { MockOtlpServer } from '@elastic/mockotlpserver';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface CollectedLine {
  readonly body: { readonly stringValue: string };
  readonly severityText: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: CollectedSpan['attributes'];
}

/** Elastic's OTLP/HTTP receiver, to which servers started afterwards export, until the test ends. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const lines: CollectedLine[] = [];
  const collector = new MockOtlpServer({
    services: ['http'],
    httpHostname: '127.0.0.1',
    httpPort: 0,
    logLevel: 'error',
    onTrace(body) {
      const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[] };
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    },
    onLogs(body) {
      const { resourceLogs } = body as { resourceLogs: { scopeLogs: { logRecords: CollectedLine[] }[] }[] };
      for (const { scopeLogs } of resourceLogs)
        for (const scope of scopeLogs) lines.push(...scope.logRecords);
    },
  });
  await collector.start();
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BLRP_SCHEDULE_DELAY: '100',
  };
  Object.assign(process.env, settings);
  onTestFinished(async () => {
    for (const name of Object.keys(settings)) delete process.env[name];
    await collector.close();
  });
  return { spans, lines };
}
