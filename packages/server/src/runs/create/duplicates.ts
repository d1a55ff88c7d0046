import { latestData } from './debounce.ts';
import type { NewRun } from './row.ts';

/**
 * Finds triggers of one flush that resolve to the same run: a request that was sent twice, two with one idempotency key, or two that are
 * debounced together. Their run is written once. `indexes` has, for each trigger, the index of its run.
 */
export function withoutDuplicates(triggers: readonly NewRun[]): {
  readonly runs: readonly NewRun[];
  readonly indexes: readonly number[];
} {
  const first = new Map<string, number>();
  const runs: NewRun[] = [];
  const indexes = triggers.map((run) => {
    const names = namesOf(run);
    const name = names.find((candidate) => first.has(candidate));
    const duplicate = name === undefined ? undefined : first.get(name);
    const index = duplicate ?? runs.push(run) - 1;
    for (const each of names) if (!first.has(each)) first.set(each, index);
    if (duplicate !== undefined && name?.startsWith('debounce'))
      runs[duplicate] = pushed(runs[duplicate] as NewRun, run);
    return index;
  });
  return { runs, indexes };
}

/** Whether both are children of one attempt, or neither has a parent. */
export const isOfOneParent = (first: NewRun, second: NewRun): boolean =>
  first.parentId === second.parentId && first.parentFence === second.parentFence;

/** In order of precedence: a debounce key applies only if nothing else resolves to a run. */
function namesOf({ env, task, requestKey, idempotencyKey, debounce }: NewRun): string[] {
  const names: string[] = [];
  if (requestKey !== undefined) names.push(`request ${env} ${requestKey}`);
  if (idempotencyKey !== null) names.push(`key ${JSON.stringify([env, task, idempotencyKey])}`);
  if (debounce) names.push(`debounce ${JSON.stringify([env, task, debounce.key])}`);
  return names;
}

/** The result of one debounced trigger followed by another. */
const pushed = (run: NewRun, later: NewRun): NewRun => ({
  ...run,
  due: later.due,
  sortKey: later.sortKey,
  ...(later.debounce?.trailing && { debounce: later.debounce, ...latestData(later) }),
});
