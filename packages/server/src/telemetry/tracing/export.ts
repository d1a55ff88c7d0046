import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type IdGenerator } from '@opentelemetry/sdk-trace-base';
import { exportLines } from './export-lines.ts';
import { readableSpan } from './exported-span.ts';
import { attemptSpanId, idsOfRun, readTraceparent, type SpanIds } from './ids.ts';
import type { AnsweredRequest, TracedAttempt, TracedSpans, Tracing } from './tracing.ts';

const maxShutdownMs = 3_000;

/** Outcomes after which the same attempt starts again, with a new span. */
const begunAgain: ReadonlySet<string> = new Set(['released', 'returned', 'pending_version']);

/** Sends spans and log lines over OTLP/HTTP. The libraries themselves read the standard variables. */
export function exportTelemetry(sends: { readonly traces: boolean; readonly logs: boolean }): Tracing {
  const ids = new Ids();
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'millrace' }))
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = sends.traces ? new BatchSpanProcessor(new OTLPTraceExporter()) : undefined;
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: processor ? [processor] : [],
    idGenerator: ids,
  });
  const tracer = provider.getTracer('millrace');
  const lines = sends.logs ? exportLines(resource) : undefined;

  const attemptEnded = (
    { run, task, since, outcome, attempt: number, traceparent }: TracedAttempt,
    status: string,
  ): void => {
    const caller = readTraceparent(traceparent);
    if (caller && (caller.traceFlags & TraceFlags.SAMPLED) === 0) return;
    const now = Date.now();
    const root = idsOfRun(run, caller);
    const attributes = { 'millrace.run.id': run, 'millrace.task': task };
    const error = outcome.kind === 'failed' || outcome.kind === 'retry' ? outcome.error : undefined;
    const failure = error && { code: SpanStatusCode.ERROR, message: `${error.name}: ${error.message}` };
    const startAttempt = () =>
      tracer.startSpan(
        `attempt ${task}`,
        {
          kind: SpanKind.CONSUMER,
          startTime: since ?? now,
          attributes: {
            ...attributes,
            'millrace.outcome': outcome.kind,
            ...(number !== undefined && { 'millrace.attempt': number }),
          },
        },
        trace.setSpanContext(ROOT_CONTEXT, { ...root, traceFlags: TraceFlags.SAMPLED, isRemote: true }),
      );
    const attempt =
      number === undefined || begunAgain.has(status)
        ? startAttempt()
        : ids.next({ ...root, spanId: attemptSpanId(run, number) }, startAttempt);
    if (failure) attempt.setStatus(failure);
    attempt.end(now);
    if (status !== status.toUpperCase()) return;
    // The span of the whole run. Its attempts have already been reported, by any process.
    const whole = ids.next(root, () =>
      tracer.startSpan(
        `run ${task}`,
        {
          startTime: createdAt(run) ?? since ?? now,
          attributes: { ...attributes, 'millrace.run.status': status },
        },
        caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT,
      ),
    );
    if (failure) whole.setStatus(failure);
    whole.end(now);
  };

  return {
    request({ method, route, status, from, traceparent }: AnsweredRequest) {
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: from,
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': status,
          },
        },
        contextOf(traceparent),
      );
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },

    attempt(ended, status) {
      if (processor && status !== undefined) attemptEnded(ended, status);
    },

    spans:
      processor &&
      (({ run, attempt, trace: traceId, spans, sampled }: TracedSpans) => {
        if (sampled === false) return;
        const above = { traceId, spanId: attemptSpanId(run, attempt) };
        const attributes = { 'millrace.run.id': run, 'millrace.attempt': attempt };
        for (const span of spans) processor.onEnd(readableSpan(span, above, attributes, resource));
      }),

    line: lines?.line,

    // An unresponsive collector must not prevent this process from ending.
    stop: () =>
      Promise.race([
        Promise.all([provider.shutdown().catch(() => {}), lines?.stop()]).then(() => undefined),
        sleep(maxShutdownMs, undefined, { ref: false }),
      ]),
  };
}

/** The id of a run begins with the millisecond of its creation. */
function createdAt(run: string): number | undefined {
  const ms = Number.parseInt(run.slice(4, 12), 36);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Random ids, except for spans with given ones. */
class Ids implements IdGenerator {
  #own: SpanIds | undefined;

  next<T>(own: SpanIds, start: () => T): T {
    this.#own = own;
    try {
      return start();
    } finally {
      this.#own = undefined;
    }
  }

  generateTraceId = (): string => this.#own?.traceId ?? randomBytes(16).toString('hex');
  generateSpanId = (): string => this.#own?.spanId ?? randomBytes(8).toString('hex');
}

/** The caller's W3C trace context. */
function contextOf(traceparent: string | undefined): Context {
  const caller = readTraceparent(traceparent);
  return caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT;
}
