import type { Effect, History } from '../history/types.ts';
import { groupBy, type Violation } from './violation.ts';

const limit = 3;

/**
 * The queue of the task `limited` never executes more than its limit. Attempts without an end are ignored: their code may have been killed.
 * Attempts of a runner that was disconnected continue there while their runs execute elsewhere, so `isAffected` leaves them out.
 */
export function checkLimits(
  { effects, stored }: History,
  isAffected: (runner: string) => boolean,
): Violation[] {
  const limited = new Set(stored.runs.filter(({ task }) => task === 'limited').map(({ id }) => id));
  const ofTask = effects.filter(({ run, runner = '' }) => limited.has(run) && !isAffected(runner));
  const changes: { at: number; by: number }[] = [];
  for (const group of groupBy(ofTask, ({ run, attempt, runner }) => `${run} ${attempt} ${runner}`).values()) {
    const begin = first(group, 'begin');
    const end = first(group, 'end');
    if (begin && end) changes.push({ at: begin.at, by: 1 }, { at: end.at, by: -1 });
  }
  let executing = 0;
  let peak = 0;
  for (const { by } of changes.toSorted((a, b) => a.at - b.at || a.by - b.by))
    peak = Math.max(peak, (executing += by));
  return peak > limit
    ? [
        {
          promise: 'limit',
          detail: `${peak} runs of a queue with a limit of ${limit} executed at the same time`,
        },
      ]
    : [];
}

const first = (effects: readonly Effect[], point: string): Effect | undefined =>
  effects.find((effect) => effect.point === point);
