import type { Outcome } from '@millrace/contract/runner';
import type { Attempt } from './executor.ts';
import { timedOut } from './crash.ts';
import type { Executor } from './executor.ts';

/** Milliseconds between two ticks. */
export const tickMs = 100;
/** How long importing the task files may take, in milliseconds. */
export const startMs = 60_000;

export interface Limits {
  /** Milliseconds between the stop signal of an attempt and killing it. */
  readonly graceMs: number;
  /** How long, in milliseconds, other attempts in a process have to finish when one of them does not stop. */
  readonly vacateMs: number;
  /** How long a shared process may be unresponsive, in milliseconds. */
  readonly blockedMs: number;
}

/** Defaults. */
export const defaultLimits: Limits = { graceMs: 5_000, vacateMs: 60_000, blockedMs: 10_000 };

/** The outcome of an attempt that received a stop signal and did not stop; undefined while it has time left. */
export function overdue(
  attempt: Attempt,
  seconds: number | null,
  graceMs: number,
  now: number,
): Outcome | undefined {
  const { executor, startedAt, canceledAt } = attempt;
  if (!executor) return undefined;
  if (canceledAt !== null && now - canceledAt > graceMs) return { kind: 'canceled' };
  if (attempt.suspendedAt !== null) return undefined;
  if (seconds === null || startedAt === null || now - startedAt <= seconds * 1_000 + graceMs)
    return undefined;
  return timedOut(seconds);
}

/** The process's event loop is blocked, so nothing in it can end, and the cause is unknown. */
const isBlocked = (executor: Executor): boolean => executor.silentTicks * tickMs > 1_000;

/** Whether an overdue attempt may merely be blocked by other attempts in its process, or by code that they left behind. */
export const isBlockedByOthers = (executor: Executor): boolean =>
  executor.purpose === 'shared' &&
  isBlocked(executor) &&
  (executor.running.size > 1 || executor.leftovers.size > 0);

/** An attempt does not stop, so its process must end. Other attempts in it may finish first. */
export function evict(executor: Executor, { vacateMs }: Limits, now: number): void {
  executor.retiring = true;
  const overstayed = [...executor.leftovers.values()].some((until) => now - until > vacateMs);
  if (executor.running.size > 0 && !isBlocked(executor) && !overstayed) return;
  executor.culpritKnown = true;
  executor.kill(null);
}

/** Kills a process that does not start, does not respond, or must end. */
export function checkHealth(executor: Executor, limits: Limits, now: number): void {
  if (executor.ending) return;
  if (!executor.ready) {
    if (now - executor.bornAt > startMs)
      executor.kill(`Importing the task files took longer than ${startMs / 1_000} s`);
    return;
  }
  if (executor.running.size > 0 || executor.leftovers.size > 0) executor.tick();
  if ([...executor.leftovers.values()].some((until) => until <= now)) evict(executor, limits, now);
  // A task with `isolated` may block its own process.
  const { blockedMs } = limits;
  if (executor.ending || executor.purpose === 'isolated' || executor.silentTicks * tickMs <= blockedMs)
    return;
  const advice = 'split the computation, or set `isolated: true` on the task';
  executor.kill(`The run blocked its event loop for ${blockedMs / 1_000} s: ${advice}`);
}
