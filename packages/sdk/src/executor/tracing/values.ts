import { spanLimits, type SpanAttributes, type SpanValue } from '@millrace/contract/spans';
import { boundedText } from '../../bounded-text.ts';

/** Attributes, kept within their limits as they are set. */
export class BoundedAttributes {
  readonly #max: number;
  #values: Map<string, SpanValue> | undefined;
  /** The number of attributes left out. */
  omitted = 0;

  constructor(max: number, initial?: unknown) {
    this.#max = max;
    if (initial !== undefined) this.setAll(initial);
  }

  set(name: unknown, input: unknown): void {
    const value = bounded(input);
    if (typeof name !== 'string' || name === '' || value === undefined) return;
    const key = boundedText(name, spanLimits.name);
    this.#values ??= new Map();
    if (this.#values.size < this.#max || this.#values.has(key)) this.#values.set(key, value);
    else this.omitted += 1;
  }

  setAll(attributes: unknown): void {
    if (typeof attributes !== 'object' || attributes === null) return;
    for (const [name, value] of Object.entries(attributes)) this.set(name, value);
  }

  get all(): SpanAttributes | undefined {
    return this.#values && Object.fromEntries(this.#values);
  }
}

function bounded(value: unknown): SpanValue | undefined {
  if (typeof value === 'string') return boundedText(value, spanLimits.text);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, spanLimits.elements).map((element: unknown) => {
    const plain = Array.isArray(element) ? undefined : bounded(element);
    return plain === undefined || typeof plain === 'object' ? null : plain;
  });
}

/** A time of the OpenTelemetry API as microseconds since 1970: seconds with nanoseconds, a date, or milliseconds of either clock. */
export function microseconds(time: unknown): number | undefined {
  if (Array.isArray(time)) {
    const [seconds, nanoseconds] = time as unknown[];
    return checked(Number(seconds) * 1e6 + Number(nanoseconds) / 1e3);
  }
  if (time instanceof Date) return checked(time.getTime() * 1e3);
  if (typeof time !== 'number') return undefined;
  return checked((time < maxUptimeMs ? performance.timeOrigin + time : time) * 1e3);
}

/** Smaller numbers come from `performance.now()`, because no process runs for three years and no span is from before 1973. */
const maxUptimeMs = 1e11;
const lastMicrosecond = 8.64e18 / 1e3;
const checked = (time: number): number | undefined =>
  time >= 0 && time <= lastMicrosecond ? Math.round(time) : undefined;
