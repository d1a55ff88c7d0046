/** One attempt, leased to a runner. */
export interface Assignment {
  readonly run: string;
  /** Grows with every lease; proves that this attempt is the live one. */
  readonly fence: number;
  readonly attempt: number;
  readonly task: string;
  readonly version: string;
  readonly payload: string | null;
  readonly payloadType: string;
  /** JSON text of the run's metadata, if it has any. */
  readonly metadata: string | null;
  readonly tags: readonly string[];
  readonly isTest: boolean;
  readonly queue: string;
  readonly concurrencyKey: string | null;
  readonly maxAttempts: number | null;
  /** Maximum duration in seconds. */
  readonly maxDuration: number | null;
  readonly machine: string | null;
  readonly priority: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When its first attempt started, in milliseconds since 1970; null if this is the first. */
  readonly startedAt?: number | null;
  readonly parentRun: string | null;
  readonly rootRun: string | null;
  readonly batch: string | null;
  readonly schedule: string | null;
  /** JSON text of the event that triggered it, without its payload. */
  readonly event?: string | null;
  /** The W3C trace context of its trigger's caller. */
  readonly traceparent?: string | null;
  /** The run that it is a replay of. */
  readonly replayOf?: string | null;
  /** The caller's original key, if known; otherwise the stored key. */
  readonly idempotencyKey?: string | null;
  readonly idempotencyKeyScope?: string | null;
  readonly region?: string | null;
}
