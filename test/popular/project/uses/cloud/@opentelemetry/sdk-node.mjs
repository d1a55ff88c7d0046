import { trace } from '@opentelemetry/api';
import { NodeSDK, tracing } from '@opentelemetry/sdk-node';

export default async () => {
  const exporter = new tracing.InMemorySpanExporter();
  const sdk = new NodeSDK({
    spanProcessors: [new tracing.SimpleSpanProcessor(exporter)],
    autoDetectResources: false,
  });
  sdk.start();
  const span = trace.getTracer('app').startSpan('mail');
  span.end();
  await sdk.shutdown();
  return typeof span.spanContext().traceId;
};
