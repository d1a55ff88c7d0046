import type { EndedSpan } from '@millrace/contract/runner';
import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { SpanIds } from './ids.ts';

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
const codes = { ok: SpanStatusCode.OK, error: SpanStatusCode.ERROR };

const timeOf = (microseconds: number): HrTime => [
  Math.floor(microseconds / 1e6),
  Math.round((microseconds % 1e6) * 1e3),
];

/** A span of a run's code in the exporter's format. `above` is the attempt's own span. */
export function readableSpan(
  span: EndedSpan,
  above: SpanIds,
  more: Attributes,
  resource: Resource,
): ReadableSpan {
  const traceId = span.trace ?? above.traceId;
  // A span from another trace without a parent is a root in that trace.
  const parent = span.parent ?? (traceId === above.traceId ? above.spanId : undefined);
  const contextOf = (spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  return {
    name: span.name,
    kind: kinds[span.kind ?? 'internal'],
    spanContext: () => contextOf(span.id),
    ...(parent !== undefined && { parentSpanContext: contextOf(parent) }),
    startTime: timeOf(span.at),
    endTime: timeOf(span.at + span.took),
    duration: timeOf(span.took),
    status: {
      code: span.status ? codes[span.status] : SpanStatusCode.UNSET,
      ...(span.message !== undefined && { message: span.message }),
    },
    attributes: { ...(span.attributes as Attributes), ...more },
    events: (span.events ?? []).map(({ name, at, attributes }) => ({
      name,
      time: timeOf(at),
      attributes: attributes as Attributes,
    })),
    links: [],
    ended: true,
    resource,
    instrumentationScope: { name: span.scope ?? 'millrace' },
    droppedAttributesCount: span.omitted ?? 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
