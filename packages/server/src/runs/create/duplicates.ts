import { latestData } from './debounce.ts';
import type { NewRun } from './row.ts';

/**
 * Triggers of one flush that lead to the same run: a request that was sent twice, two with one idempotency key, two that are debounced
 * together. Such a run is written once. `indexes` has, for each trigger, the index of the run that answers it.
 */
export function withoutDuplicates(triggers: readonly NewRun[]): {
  readonly runs: readonly NewRun[];
  readonly indexes: readonly number[];
} {
  const first = new Map<string, number>();
  const runs: NewRun[] = [];
  const indexes = triggers.map((run) => {
    const names = namesOf(run);
    const name = names.find((one) => first.has(one));
    const duplicate = name === undefined ? undefined : first.get(name);
    const index = duplicate ?? runs.push(run) - 1;
    for (const one of names) if (!first.has(one)) first.set(one, index);
    if (duplicate !== undefined && name?.startsWith('debounce'))
      runs[duplicate] = pushed(runs[duplicate] as NewRun, run);
    return index;
  });
  return { runs, indexes };
}

/** Whether both are children of one attempt, or neither has a parent. */
export const isOfOneParent = (one: NewRun, other: NewRun): boolean =>
  one.parentId === other.parentId && one.parentFence === other.parentFence;

/** In the order in which they decide: a debounce key counts only where nothing else leads to a run. */
function namesOf({ env, task, requestKey, idempotencyKey, debounce }: NewRun): string[] {
  const names: string[] = [];
  if (requestKey !== undefined) names.push(`request ${env} ${requestKey}`);
  if (idempotencyKey !== null) names.push(`key ${JSON.stringify([env, task, idempotencyKey])}`);
  if (debounce) names.push(`debounce ${JSON.stringify([env, task, debounce.key])}`);
  return names;
}

/** What one debounced trigger becomes when another one follows. */
const pushed = (run: NewRun, later: NewRun): NewRun => ({
  ...run,
  due: later.due,
  sortKey: later.sortKey,
  ...(later.debounce?.trailing && { debounce: later.debounce, ...latestData(later) }),
});
