/** The spans that a runner sends for its runs: those of `trace()` and of the OpenTelemetry API. */

/** The value of an attribute. */
export type SpanValue = string | number | boolean | readonly (string | number | boolean | null)[];
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

export const spanKinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const;
export type SpanKind = (typeof spanKinds)[number];

/** A point in time within a span, such as a recorded exception. */
export interface SpanEvent {
  readonly name: string;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly attributes?: SpanAttributes;
}

/** An ended span. All times are from the same clock, which is monotonic within an attempt. */
export interface EndedSpan {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** Omitted for a direct child of the attempt. */
  readonly parent?: string;
  /** 32 hexadecimal digits, if it is not in the trace of its run. */
  readonly trace?: string;
  readonly name: string;
  /** Default `internal`. */
  readonly kind?: SpanKind;
  /** When it started, in microseconds since 1970. */
  readonly at: number;
  /** Duration in microseconds. */
  readonly took: number;
  readonly status?: 'ok' | 'error';
  /** The error message. */
  readonly message?: string;
  readonly attributes?: SpanAttributes;
  readonly events?: readonly SpanEvent[];
  /** The library that created it. */
  readonly scope?: string;
  /** Number of attributes and events that were left out. */
  readonly omitted?: number;
}

/** Spans of one attempt, in the order in which they ended. */
export interface SpanChunk {
  readonly run: string;
  readonly attempt: number;
  /** The trace of the run: 32 hexadecimal digits. */
  readonly trace: string;
  readonly spans: readonly EndedSpan[];
  /** Number of spans that were dropped because of the limits. */
  readonly dropped?: number;
  /** False if the trigger's caller decided not to export its trace. */
  readonly sampled?: boolean;
}

/** Limits on stored spans. The executor applies them, and the server enforces them again. */
export const spanLimits = {
  /** Maximum number of spans per attempt. */
  perAttempt: 2_000,
  /** Maximum number of spans of a run, over all its attempts. */
  perRun: 10_000,
  /** Maximum size of the spans of a run, in bytes of JSON. */
  runBytes: 16 * 1024 * 1024,
  /** Levels below the attempt. Deeper spans are shown at this level. */
  depth: 64,
  /** Maximum number of characters of a name, and of the name of an attribute. */
  name: 256,
  /** Maximum number of characters of a string in an attribute, and of a message. */
  text: 2_048,
  attributes: 64,
  /** Maximum number of elements of a list attribute. */
  elements: 64,
  events: 32,
  eventAttributes: 16,
  /** Maximum number of characters of a span as JSON. A larger one loses its attributes and events. */
  size: 32_768,
} as const;
