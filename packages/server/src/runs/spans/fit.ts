import { spanKinds, spanLimits, type EndedSpan, type SpanChunk } from '@millrace/contract/runner';
import { cutText } from '../values/cut-text.ts';
import { storableText } from '../values/storable.ts';

type Fields = Readonly<Record<string, unknown>>;
type Attributes = NonNullable<EndedSpan['attributes']>;

/** The spans of a chunk within their limits, whatever its runner sent. Spans without an id or a time are omitted. */
export const fitSpans = (chunk: SpanChunk): EndedSpan[] =>
  (Array.isArray(chunk.spans) ? chunk.spans : [])
    .slice(0, spanLimits.perAttempt)
    .flatMap((given: unknown) => (isFields(given) ? fitSpan(given) : []));

function fitSpan(given: Fields): EndedSpan[] {
  const { id, parent, trace, at, took } = given;
  if (!isSpanId(id) || !isTime(at)) return [];
  const attributes = fitAttributes(given['attributes'], spanLimits.attributes);
  const events = fitEvents(given['events']);
  const omitted = count(given['omitted']) + attributes.omitted + events.omitted;
  const span: EndedSpan = {
    id,
    ...(isSpanId(parent) && parent !== id && { parent }),
    ...(isTraceId(trace) && { trace }),
    name: shorten(given['name'], spanLimits.name) || 'unnamed',
    ...(isKind(given['kind']) && { kind: given['kind'] }),
    at,
    took: isTime(took) ? took : 0,
    ...((given['status'] === 'ok' || given['status'] === 'error') && { status: given['status'] }),
    ...(typeof given['message'] === 'string' && { message: shorten(given['message'], spanLimits.text) }),
    ...(attributes.kept && { attributes: attributes.kept }),
    ...(events.kept.length > 0 && { events: events.kept }),
    ...(typeof given['scope'] === 'string' && { scope: shorten(given['scope'], spanLimits.name) }),
    ...(omitted > 0 && { omitted }),
  };
  if (JSON.stringify(span).length <= spanLimits.size) return [span];
  const { attributes: all = {}, events: moments = [], ...rest } = span;
  return [{ ...rest, omitted: omitted + Object.keys(all).length + moments.length }];
}

function fitEvents(given: unknown): { kept: NonNullable<EndedSpan['events']>; omitted: number } {
  if (!Array.isArray(given)) return { kept: [], omitted: 0 };
  let omitted = Math.max(0, given.length - spanLimits.events);
  const kept = given.slice(0, spanLimits.events).flatMap((event: unknown) => {
    if (!isFields(event) || !isTime(event['at'])) {
      omitted += 1;
      return [];
    }
    const attributes = fitAttributes(event['attributes'], spanLimits.eventAttributes);
    omitted += attributes.omitted;
    const name = shorten(event['name'], spanLimits.name) || 'unnamed';
    return { name, at: event['at'], ...(attributes.kept && { attributes: attributes.kept }) };
  });
  return { kept, omitted };
}

function fitAttributes(given: unknown, most: number): { kept: Attributes | undefined; omitted: number } {
  if (!isFields(given) || Array.isArray(given)) return { kept: undefined, omitted: 0 };
  const entries = Object.entries(given);
  const kept: [string, Attributes[string]][] = [];
  for (const [name, any] of entries) {
    if (kept.length >= most) break;
    const value = fitValue(any);
    if (value !== undefined) kept.push([shorten(name, spanLimits.name), value]);
  }
  return {
    kept: kept.length === 0 ? undefined : Object.fromEntries(kept),
    omitted: entries.length - kept.length,
  };
}

function fitValue(value: unknown): Attributes[string] | undefined {
  if (typeof value === 'string') return shorten(value, spanLimits.text);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, spanLimits.elements).map((element: unknown) => {
    const plain = Array.isArray(element) ? undefined : fitValue(element);
    return plain === undefined || typeof plain === 'object' ? null : plain;
  });
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isKind = (value: unknown): value is NonNullable<EndedSpan['kind']> =>
  (spanKinds as readonly unknown[]).includes(value);
const isSpanId = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{16}$/.test(value);
export const isTraceId = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{32}$/.test(value);
/** Microseconds that a date can show. */
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= 8_640_000_000_000_000;
const count = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, 1_000_000) : 0;

function shorten(value: unknown, most: number): string {
  return typeof value === 'string' ? storableText(cutText(value, most)).toWellFormed() : '';
}
