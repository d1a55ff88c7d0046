import type { OneTimeUse } from '../auth/one-time.ts';

/** A run about to be created: one row of a trigger flush. */
export interface NewRun {
  readonly env: number;
  readonly id: string;
  readonly task: string;
  /** Where it will wait: in a lane, for its time, or for a version that knows its task. */
  readonly state: 'queued' | 'delayed' | 'parked';
  readonly queueId: number;
  /** Empty for none. */
  readonly key: string;
  /** 0: whatever version is current when it starts; else the id of the version it is locked to. */
  readonly route: number;
  /** Its turn in the lane: milliseconds since 1970 when it is due, less its priority. */
  readonly ord: number;
  readonly payload: string | null;
  readonly payloadType: string | null;
  readonly expiresAt: Date | null;
  /** Seconds. */
  readonly ttl: number | null;
  readonly due: Date | null;
  readonly idempotencyKey: string | null;
  readonly idempotencyExpiresAt: Date | null;
  /** JSON text. */
  readonly idempotencyOptions: string | null;
  readonly tags: readonly string[];
  /** JSON text. */
  readonly metadata: string | null;
  readonly maxAttempts: number | null;
  readonly maxDuration: number | null;
  readonly machine: string | null;
  readonly priorityMs: number;
  readonly test: boolean;
  readonly parentId: string | null;
  readonly rootId: string | null;
  readonly depth: number;
  /** The schedule whose tick it is. */
  readonly scheduleId?: string;
  /** JSON text: what it is told of the event that started it. */
  readonly event?: string;
  /** The token that may create this one run: it is written apart, using the token up. */
  readonly oneTime?: OneTimeUse;
}
