import type { Outcome } from '@millrace/contract/runner';
import type { Attempt } from './executor.ts';
import { timedOut } from './crash.ts';
import type { Executor } from './executor.ts';

/** Milliseconds between two looks at what runs. */
export const tickMs = 100;
/** Milliseconds that importing the task files may take. */
export const startMs = 60_000;

export interface Limits {
  /** Milliseconds between asking an attempt to stop and doing without its consent. */
  readonly graceMs: number;
  /** Milliseconds that the others in a process have to finish when one of them will not stop. */
  readonly vacateMs: number;
  /** Milliseconds that a shared process may not answer. */
  readonly blockedMs: number;
}

/** What holds where the runner's options say nothing else. */
export const defaultLimits: Limits = { graceMs: 5_000, vacateMs: 60_000, blockedMs: 10_000 };

/** What an attempt comes to that was asked to stop and has not; undefined while it is in its time. */
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

/** Its loop does not turn, so nothing in it can end, and nobody knows whose doing that is. */
const isBlocked = (executor: Executor): boolean => executor.silentTicks * tickMs > 1_000;

/** Whether an attempt that is out of time may only be held up by others in its process, or by what others left behind in it. */
export const isHeldUp = (executor: Executor): boolean =>
  executor.purpose === 'shared' &&
  isBlocked(executor) &&
  (executor.running.size > 1 || executor.leftovers.size > 0);

/** An attempt in it does not stop: the process has to go, but what else runs in it may finish, if it can. */
export function evict(executor: Executor, { vacateMs }: Limits, now: number): void {
  executor.retiring = true;
  const overstayed = [...executor.leftovers.values()].some((until) => now - until > vacateMs);
  if (executor.running.size > 0 && !isBlocked(executor) && !overstayed) return;
  executor.culpritKnown = true;
  executor.kill(null);
}

/** Kills a process that does not start, does not answer, or has to go. */
export function checkHealth(executor: Executor, limits: Limits, now: number): void {
  if (executor.ending) return;
  if (!executor.ready) {
    if (now - executor.bornAt > startMs)
      executor.kill(`Importing the task files took longer than ${startMs / 1_000} s`);
    return;
  }
  if (executor.running.size > 0 || executor.leftovers.size > 0) executor.tick();
  if ([...executor.leftovers.values()].some((until) => until <= now)) evict(executor, limits, now);
  // Alone by its own wish it may compute for as long as it likes.
  const { blockedMs } = limits;
  if (executor.ending || executor.purpose === 'isolated' || executor.silentTicks * tickMs <= blockedMs)
    return;
  const advice = 'compute in small pieces, or give the task `isolated: true`';
  executor.kill(`The run blocked its event loop for ${blockedMs / 1_000} s: ${advice}`);
}
