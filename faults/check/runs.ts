import type { Effect, History } from '../history/types.ts';
import { groupBy, type Violation } from './violation.ts';

/**
 * Every acknowledged run exists, has completed, and has executed. A key never leads to two runs, even if some of its calls failed. The runs of
 * the load never fail by themselves, so another status means a lost run. `isExcused` names tasks for whose runs it does not.
 */
export function checkRuns(
  { operations, effects, stored }: History,
  isExcused: (task: string) => boolean = () => false,
): Violation[] {
  const violations: Violation[] = [];
  const byId = new Map(stored.runs.map((run) => [run.id, run]));
  const byKey = groupBy(stored.runs, ({ key }) => key ?? '');
  const ended = new Set(effects.filter(({ point }) => point === 'end').map(({ run }) => run));

  for (const [key, runs] of byKey)
    if (runs.length > 1)
      violations.push({
        promise: 'doubled',
        detail: `key ${key}: runs ${runs.map(({ id }) => id).join(', ')}`,
      });

  const acknowledged = new Map<string, string | undefined>();
  for (const operation of operations) {
    if (operation.error !== undefined) continue;
    if (operation.call === 'trigger') acknowledged.set(operation.key, operation.run);
    if (operation.call === 'batch') for (const key of operation.keys) acknowledged.set(key, undefined);
  }
  for (const [key, id] of acknowledged) {
    const run = id === undefined ? byKey.get(key)?.[0] : byId.get(id);
    if (!run) violations.push({ promise: 'lost', detail: `key ${key}: run ${id ?? ''} does not exist` });
  }
  // A call that failed may have created a run: it must end like any other.
  for (const run of stored.runs) {
    if (run.status !== 'COMPLETED') {
      if (isExcused(run.task)) continue;
      violations.push({
        promise: 'lost',
        detail: `run ${run.id} (${run.task}, key ${run.key}): ${run.status ?? 'has not ended'}`,
      });
    } else if (!ended.has(run.id))
      violations.push({
        promise: 'lost',
        detail: `run ${run.id} (${run.task}, key ${run.key}): completed without having executed`,
      });
  }
  return violations;
}

/** Runs whose code executed more than once, which is permitted: execution is at least once. */
export function executedAgain(effects: readonly Effect[]): number {
  const begins = groupBy(
    effects.filter(({ point }) => point === 'begin'),
    ({ run }) => run,
  );
  return [...begins.values()].filter(({ length }) => length > 1).length;
}
