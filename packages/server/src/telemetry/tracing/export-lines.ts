import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { SeverityNumber, type AnyValueMap } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { attemptSpanId, idsOfRun, readTraceparent } from './ids.ts';
import type { TracedLine } from './tracing.ts';

const severities = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  log: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

/** Sends log lines of runs over OTLP/HTTP, in the trace of their run. */
export function exportLines(resource: Resource) {
  const exporter = new OTLPLogExporter();
  // Since 0.220, the processor expects an object that contains the exporter; before that, the exporter itself. Both versions are in use.
  const processor = new BatchLogRecordProcessor(Object.assign(exporter, { exporter }));
  const provider = new LoggerProvider({ resource, processors: [processor] });
  const logger = provider.getLogger('millrace');
  return {
    line({ run, attempt, at, level, message, properties, traceparent }: TracedLine): void {
      const { traceId } = idsOfRun(run, readTraceparent(traceparent));
      logger.emit({
        timestamp: at,
        severityNumber: severities[level],
        severityText: level,
        body: message,
        attributes: {
          ...(properties as AnyValueMap | undefined),
          'millrace.run.id': run,
          'millrace.attempt': attempt,
        },
        context: trace.setSpanContext(ROOT_CONTEXT, {
          traceId,
          spanId: attemptSpanId(run, attempt),
          traceFlags: TraceFlags.SAMPLED,
        }),
      });
    },
    stop: () => provider.shutdown().catch(() => {}),
  };
}
