import type { Counted } from '../../telemetry/stats/record.ts';
import type { Engine } from '../engine/engine.ts';
import type { EndedAttempt } from './attempt.ts';

const countedAs: Readonly<Record<string, Counted>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CRASHED: 'crashed',
  SYSTEM_FAILURE: 'system_failure',
  TIMED_OUT: 'timed_out',
  CANCELED: 'canceled',
  retry: 'retried',
};

/** Counts the end of an attempt. An attempt that was returned, or whose version lacks the task, has not ended. */
export function countEnded(
  { stats, clock }: Pick<Engine, 'stats' | 'clock'>,
  ended: EndedAttempt,
  kind: string,
): void {
  const what = countedAs[kind];
  if (what === undefined) return;
  const now = clock.now();
  stats.count(ended, what, now);
  if (ended.began !== undefined) stats.ended(ended, performance.now() - ended.began, now);
}
