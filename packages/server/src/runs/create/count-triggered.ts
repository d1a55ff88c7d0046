import type { Engine } from '../engine/engine.ts';
import type { NewRun } from './row.ts';

/** Counts a created run for statistics. One that was handed to a runner in the same commit does not wait. */
export function countTriggered(
  { stats, queues, clock }: Pick<Engine, 'stats' | 'queues' | 'clock'>,
  run: NewRun,
  { isHandedOver = false }: { readonly isHandedOver?: boolean } = {},
): void {
  const name = queues.name(run.queueId);
  const subject = { env: run.env, task: run.task, queue: typeof name === 'string' ? name : undefined };
  const now = clock.now();
  stats.count(subject, 'triggered', now);
  if (isHandedOver) stats.started(subject, 0, now);
}
