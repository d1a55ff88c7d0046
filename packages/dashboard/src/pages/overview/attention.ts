import type { EnvironmentConcurrency, Queue, RunnerInfo, Schedule } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { countText } from '../../parts/count-text.ts';

/** A possible problem, with the page on which it can be solved. */
export interface Concern {
  readonly id: string;
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly action: string;
}

/** The available data; missing responses are omitted. */
export interface Known {
  readonly now: number;
  readonly installationPausedAt?: string | null | undefined;
  readonly concurrency?: EnvironmentConcurrency | undefined;
  readonly runners?: readonly RunnerInfo[] | undefined;
  readonly queues?: readonly Queue[] | undefined;
  readonly schedules?: readonly Schedule[] | undefined;
  readonly newErrors?: number | undefined;
  readonly regressedErrors?: number | undefined;
  /** How long the oldest run has been waiting. */
  readonly oldestMs?: number | null | undefined;
}

/** A schedule that is later than this is not merely due. */
const lateMs = 60_000;
/** A wait of this length is noticeable. */
const longWaitMs = 5 * 60_000;

/** Problems that need attention, most severe first: complete outages, then partial outages, then failures. */
export function concernsOf(known: Known): readonly Concern[] {
  const { now, concurrency, runners, queues = [], schedules = [] } = known;
  const found: Concern[] = [];
  const waiting = concurrency?.queued ?? 0;
  if (known.installationPausedAt != null)
    found.push({
      id: 'installation',
      tone: 'bad',
      text: 'The installation is paused: no run starts in any environment.',
      to: '/settings',
      action: 'Settings',
    });
  if (concurrency?.paused)
    found.push({
      id: 'environment',
      tone: 'bad',
      text: `The environment is paused: ${countText(waiting, 'run')} ${waiting === 1 ? 'waits' : 'wait'}.`,
      to: '/queues',
      action: 'Resume it',
    });
  if (runners?.length === 0 && waiting > 0)
    found.push({
      id: 'runners',
      tone: 'bad',
      text: `No runner is connected: ${countText(waiting, 'run')} ${waiting === 1 ? 'waits' : 'wait'}.`,
      to: '/versions',
      action: 'Runners',
    });
  for (const queue of queues)
    if (queue.paused && queue.queued > 0)
      found.push({
        id: `queue ${queue.id}`,
        tone: 'warn',
        text: `Queue ${queue.name} is paused: ${countText(queue.queued, 'run')} ${queue.queued === 1 ? 'waits' : 'wait'}.`,
        to: `/queues/${encodeURIComponent(queue.id)}`,
        action: 'Open the queue',
      });
  if ((known.regressedErrors ?? 0) > 0)
    found.push({
      id: 'regressed',
      tone: 'bad',
      text: `${countText(known.regressedErrors ?? 0, 'resolved error')} occurred again.`,
      to: '/errors',
      action: 'Unresolved errors',
    });
  if ((known.newErrors ?? 0) > 0)
    found.push({
      id: 'new',
      tone: 'bad',
      text: `${countText(known.newErrors ?? 0, 'new error')}, not resolved.`,
      to: '/errors',
      search: { sort: 'firstSeen' },
      action: 'Newest errors',
    });
  if ((known.oldestMs ?? 0) > longWaitMs && !concurrency?.paused)
    found.push({
      id: 'oldest',
      tone: 'warn',
      text: `The oldest waiting run has waited for ${readableDuration(known.oldestMs ?? 0)}.`,
      to: '/queues',
      action: 'Waiting runs',
    });
  const late = schedules.filter(
    ({ active, nextRunEffectiveAt }) =>
      active && nextRunEffectiveAt !== null && now - Date.parse(nextRunEffectiveAt) > lateMs,
  );
  if (late.length > 0)
    found.push({
      id: 'late',
      tone: 'warn',
      text: `${countText(late.length, 'schedule')} ${late.length === 1 ? 'is' : 'are'} late.`,
      to: late.length === 1 ? `/schedules/${late[0]?.id}` : '/schedules',
      action: 'Schedules',
    });
  return found;
}
