import { hash, randomBytes } from 'node:crypto';
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
import type { AnsweredRequest, TracedAttempt, Tracing } from './tracing.ts';

const maxShutdownMs = 3_000;

/** Sends spans over OTLP/HTTP. The library itself reads the standard variables. */
export function exportTraces(): Tracing {
  const ids = new Ids();
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'millrace' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    idGenerator: ids,
  });
  const tracer = provider.getTracer('millrace');

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

    attempt({ run, task, since, outcome }: TracedAttempt, status) {
      const now = Date.now();
      const root = idsOf(run);
      const attributes = { 'millrace.run.id': run, 'millrace.task': task };
      const error = outcome.kind === 'failed' || outcome.kind === 'retry' ? outcome.error : undefined;
      const failure = error && { code: SpanStatusCode.ERROR, message: `${error.name}: ${error.message}` };
      const attempt = tracer.startSpan(
        `attempt ${task}`,
        {
          kind: SpanKind.CONSUMER,
          startTime: since ?? now,
          attributes: { ...attributes, 'millrace.outcome': outcome.kind },
        },
        trace.setSpanContext(ROOT_CONTEXT, { ...root, traceFlags: TraceFlags.SAMPLED, isRemote: true }),
      );
      if (failure) attempt.setStatus(failure);
      attempt.end(now);
      if (status === undefined || status !== status.toUpperCase()) return;
      // The span of the whole run. Its attempts were reported before, by any process.
      const whole = ids.next(root, () =>
        tracer.startSpan(`run ${task}`, {
          root: true,
          startTime: createdAt(run) ?? since ?? now,
          attributes: { ...attributes, 'millrace.run.status': status },
        }),
      );
      if (failure) whole.setStatus(failure);
      whole.end(now);
    },

    // A collector that does not answer must not keep this process from ending.
    stop: () =>
      Promise.race([provider.shutdown().catch(() => {}), sleep(maxShutdownMs, undefined, { ref: false })]),
  };
}

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** The ids of a run's trace and root span are derived from the run's id, so that every process uses the same ones. */
function idsOf(run: string): SpanIds {
  const digest = hash('sha256', run, 'hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
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
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '');
  const [, traceId, spanId, flags = '00'] = parts ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}
