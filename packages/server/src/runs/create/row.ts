import type { OneTimeUse } from '../../auth/one-time.ts';

export interface Debounce {
  readonly key: string;
  /** Milliseconds from its creation that a run can be pushed; null is for ever. */
  readonly maxMs: number | null;
  /** The run takes over the data of the latest trigger instead of keeping that of the first. */
  readonly trailing: boolean;
}

/** A run about to be created: one row of a trigger flush. */
export interface NewRun {
  readonly env: number;
  readonly id: string;
  readonly task: string;
  /** Where it will wait: in a lane, for its time, for a version that knows its task, or for its batch to be sealed. */
  readonly state: 'queued' | 'delayed' | 'parked' | 'held';
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
  /** It gives way to a delayed run under the same key, which then waits longer. */
  readonly debounce?: Debounce;
  /** Of the request that makes it: sent again, it leads to the same run. A uuid. */
  readonly requestKey?: string;
  /** The run that it is a replay of. */
  readonly replayOf?: string;
  /** The batch whose item it is. */
  readonly batch?: string;
  readonly tags: readonly string[];
  /** JSON text. */
  readonly metadata: string | null;
  readonly maxAttempts: number | null;
  readonly maxDuration: number | null;
  readonly machine: string | null;
  readonly region: string | null;
  readonly priorityMs: number;
  readonly test: boolean;
  readonly parentId: string | null;
  /** Of the parent's attempt that triggers it. */
  readonly parentFence?: number | undefined;
  /** Null without a parent, and where it is found out by what writes the run, which then holds the parent. So is the depth. */
  readonly rootId: string | null;
  readonly depth: number;
  /** The schedule whose tick it is. */
  readonly scheduleId?: string;
  /** JSON text: what it is told of the event that started it. */
  readonly event?: string;
  /** The token that may create this one run: it is written apart, using the token up. */
  readonly oneTime?: OneTimeUse;
}
