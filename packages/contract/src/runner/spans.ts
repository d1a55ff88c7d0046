/** What a runner sends of the spans of its runs: those of `trace()` and of the OpenTelemetry API. */

/** The value of an attribute. */
export type SpanValue = string | number | boolean | readonly (string | number | boolean | null)[];
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

export const spanKinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const;
export type SpanKind = (typeof spanKinds)[number];

/** A moment within a span, such as a recorded exception. */
export interface SpanEvent {
  readonly name: string;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly attributes?: SpanAttributes;
}

/** A span that has ended. Times are of one clock, which is monotonic within an attempt. */
export interface EndedSpan {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** Omitted for a span directly below its attempt. */
  readonly parent?: string;
  /** 32 hexadecimal digits, if it is not in the trace of its run. */
  readonly trace?: string;
  readonly name: string;
  /** Default `internal`. */
  readonly kind?: SpanKind;
  /** When it started, in microseconds since 1970. */
  readonly at: number;
  /** Microseconds. */
  readonly took: number;
  readonly status?: 'ok' | 'error';
  /** Why it failed. */
  readonly message?: string;
  readonly attributes?: SpanAttributes;
  readonly events?: readonly SpanEvent[];
  /** The library that made it. */
  readonly scope?: string;
  /** How many attributes and events were left out. */
  readonly omitted?: number;
}

/** Spans of one attempt, in the order in which they ended. */
export interface SpanChunk {
  readonly run: string;
  readonly attempt: number;
  /** The trace of the run: 32 hexadecimal digits. */
  readonly trace: string;
  readonly spans: readonly EndedSpan[];
  /** How many spans were dropped, because there were too many. */
  readonly dropped?: number;
  /** False if the trigger's caller decided that its trace is not exported. */
  readonly sampled?: boolean;
}

/** Bounds of what is stored. The executor keeps them, and the server does not rely on it. */
export const spanLimits = {
  /** Spans of an attempt. */
  perAttempt: 2_000,
  /** Spans of a run with all its attempts. */
  perRun: 10_000,
  /** Bytes of the spans of a run, as JSON. */
  runBytes: 16 * 1024 * 1024,
  /** Levels below the attempt. Deeper spans are shown at this level. */
  depth: 64,
  /** Characters of a name, and of the name of an attribute. */
  name: 256,
  /** Characters of a text in an attribute, and of a message. */
  text: 2_048,
  attributes: 64,
  /** Elements of an attribute that is a list. */
  elements: 64,
  events: 32,
  eventAttributes: 16,
  /** Characters of a span as JSON. A larger one loses its attributes and events. */
  size: 32_768,
} as const;
