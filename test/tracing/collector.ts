import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

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

/** A receiver of OTLP over HTTP with JSON, which servers that start now send to, until the test ends. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const lines: CollectedLine[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const body = JSON.parse(text) as {
        resourceSpans?: { scopeSpans: { spans: CollectedSpan[] }[] }[];
        resourceLogs?: { scopeLogs: { logRecords: CollectedLine[] }[] }[];
      };
      for (const { scopeSpans } of body.resourceSpans ?? [])
        for (const one of scopeSpans) spans.push(...one.spans);
      for (const { scopeLogs } of body.resourceLogs ?? [])
        for (const one of scopeLogs) lines.push(...one.logRecords);
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BLRP_SCHEDULE_DELAY: '100',
  };
  Object.assign(process.env, settings);
  onTestFinished(() => {
    for (const name of Object.keys(settings)) delete process.env[name];
    server.close();
    server.closeAllConnections();
  });
  return { spans, lines };
}
