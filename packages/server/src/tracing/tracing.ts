import type { Settlement } from '@millrace/contract/runner';

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
}

export interface Tracing {
  request(answered: AnsweredRequest): void;
  /** `status` is the final one of the run, or `retry`, `released`, `returned`, `pending_version`. */
  attempt(ended: TracedAttempt, status: string | undefined): void;
  /** Sends what is left. */
  stop(): Promise<void>;
}
