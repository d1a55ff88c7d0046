import type { EndedSpan, LogLine, Settlement } from '@millrace/contract/runner';

/** One answered request. */
export interface AnsweredRequest {
  readonly method: string;
  /** The path as it is declared: no id and no query is in it. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly traceparent: string | undefined;
}

/** One attempt that ended; what it says has no secret in it any more. */
export interface TracedAttempt extends Settlement {
  readonly task: string;
  /** When it was handed to its runner, in milliseconds since 1970; undefined when another process did it. */
  readonly since?: number | undefined;
  /** Undefined where its runner was lost. */
  readonly attempt?: number | undefined;
  /** The W3C trace context of the caller of the run's trigger. */
  readonly traceparent?: string | null | undefined;
}

/** Spans of one attempt's code, without secrets. */
export interface TracedSpans {
  readonly run: string;
  readonly attempt: number;
  readonly trace: string;
  readonly spans: readonly EndedSpan[];
  readonly sampled?: boolean | undefined;
}

/** A line that a run wrote, without secrets. */
export type TracedLine = Omit<LogLine, 'properties'> & {
  readonly properties: Record<string, unknown> | undefined;
  readonly traceparent: string | null | undefined;
};

export interface Tracing {
  request(answered: AnsweredRequest): void;
  /** `status` is the final one of the run, or `retry`, `released`, `returned`, `pending_version`. */
  attempt(ended: TracedAttempt, status: string | undefined): void;
  /** Undefined where no traces are sent. */
  readonly spans: ((spans: TracedSpans) => void) | undefined;
  /** Undefined where no logs are sent. */
  readonly line: ((line: TracedLine) => void) | undefined;
  /** Sends what is left. */
  stop(): Promise<void>;
}
