import type { EndedSpan, LogLine, Settlement } from '@millrace/contract/runner';

/** One completed request. */
export interface AnsweredRequest {
  readonly method: string;
  /** The declared path, which contains neither an id nor a query. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly traceparent: string | undefined;
}

/** One ended attempt; its texts no longer contain secrets. */
export interface TracedAttempt extends Settlement {
  readonly task: string;
  /** When it was sent to its runner, in milliseconds since 1970; undefined if another process did that. */
  readonly since?: number | undefined;
  /** Undefined if its runner was lost. */
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

/** A run's log line, without secrets. */
export type TracedLine = Omit<LogLine, 'properties'> & {
  readonly properties: Record<string, unknown> | undefined;
  readonly traceparent: string | null | undefined;
};

export interface Tracing {
  request(answered: AnsweredRequest): void;
  /** `status` is the final status of the run, or `retry`, `released`, `returned`, `pending_version`. */
  attempt(ended: TracedAttempt, status: string | undefined): void;
  /** Undefined if no traces are sent. */
  readonly spans: ((spans: TracedSpans) => void) | undefined;
  /** Undefined if no logs are sent. */
  readonly line: ((line: TracedLine) => void) | undefined;
  /** Sends the remaining data. */
  stop(): Promise<void>;
}
