import { spanKinds, spanLimits, type EndedSpan, type SpanChunk } from '@millrace/contract/runner';
import { cutText } from '../values/cut-text.ts';
import { storableText } from '../values/storable.ts';

type Fields = Readonly<Record<string, unknown>>;
type Attributes = NonNullable<EndedSpan['attributes']>;

/** The spans of a chunk within their limits, for any input from its runner. Spans without an id or a time are omitted. */
export const fitSpans = (chunk: SpanChunk): EndedSpan[] =>
  (Array.isArray(chunk.spans) ? chunk.spans : [])
    .slice(0, spanLimits.perAttempt)
    .flatMap((input: unknown) => (isFields(input) ? fitSpan(input) : []));

function fitSpan(input: Fields): EndedSpan[] {
  const { id, parent, trace, at, took } = input;
  if (!isSpanId(id) || !isTime(at)) return [];
  const attributes = fitAttributes(input['attributes'], spanLimits.attributes);
  const events = fitEvents(input['events']);
  const omitted = count(input['omitted']) + attributes.omitted + events.omitted;
  const span: EndedSpan = {
    id,
    ...(isSpanId(parent) && parent !== id && { parent }),
    ...(isTraceId(trace) && { trace }),
    name: shorten(input['name'], spanLimits.name) || 'unnamed',
    ...(isKind(input['kind']) && { kind: input['kind'] }),
    at,
    took: isTime(took) ? took : 0,
    ...((input['status'] === 'ok' || input['status'] === 'error') && { status: input['status'] }),
    ...(typeof input['message'] === 'string' && { message: shorten(input['message'], spanLimits.text) }),
    ...(attributes.accepted && { attributes: attributes.accepted }),
    ...(events.accepted.length > 0 && { events: events.accepted }),
    ...(typeof input['scope'] === 'string' && { scope: shorten(input['scope'], spanLimits.name) }),
    ...(omitted > 0 && { omitted }),
  };
  if (JSON.stringify(span).length <= spanLimits.size) return [span];
  const { attributes: all = {}, events: moments = [], ...rest } = span;
  // Short values, such as the tokens of a model, are retained.
  const short = Object.entries(all).filter(([name, value]) => !isLong(name) && !isLong(value));
  const reduced = {
    ...rest,
    ...(short.length > 0 && { attributes: Object.fromEntries(short) }),
    omitted: omitted + Object.keys(all).length - short.length + moments.length,
  };
  if (JSON.stringify(reduced).length <= spanLimits.size) return [reduced];
  return [{ ...rest, omitted: omitted + Object.keys(all).length + moments.length }];
}

const isLong = (value: Attributes[string]): boolean =>
  typeof value === 'object' || (typeof value === 'string' && value.length > 128);

function fitEvents(input: unknown): { accepted: NonNullable<EndedSpan['events']>; omitted: number } {
  if (!Array.isArray(input)) return { accepted: [], omitted: 0 };
  let omitted = Math.max(0, input.length - spanLimits.events);
  const accepted = input.slice(0, spanLimits.events).flatMap((event: unknown) => {
    if (!isFields(event) || !isTime(event['at'])) {
      omitted += 1;
      return [];
    }
    const attributes = fitAttributes(event['attributes'], spanLimits.eventAttributes);
    omitted += attributes.omitted;
    const name = shorten(event['name'], spanLimits.name) || 'unnamed';
    return { name, at: event['at'], ...(attributes.accepted && { attributes: attributes.accepted }) };
  });
  return { accepted, omitted };
}

function fitAttributes(input: unknown, max: number): { accepted: Attributes | undefined; omitted: number } {
  if (!isFields(input) || Array.isArray(input)) return { accepted: undefined, omitted: 0 };
  const entries = Object.entries(input);
  const accepted: [string, Attributes[string]][] = [];
  for (const [name, any] of entries) {
    if (accepted.length >= max) break;
    const value = fitValue(any);
    if (value !== undefined) accepted.push([shorten(name, spanLimits.name), value]);
  }
  return {
    accepted: accepted.length === 0 ? undefined : Object.fromEntries(accepted),
    omitted: entries.length - accepted.length,
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

function shorten(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? storableText(cutText(value, maxLength)).toWellFormed() : '';
}
