import type { NewRun } from './row.ts';

/**
 * Calls of one flush that come to the same run: a request sent twice, two with one idempotency key, two that are debounced together.
 * Such a run is written once; `places` says which of the runs answers which call.
 */
export function withoutDuplicates(calls: readonly NewRun[]): {
  readonly runs: readonly NewRun[];
  readonly places: readonly number[];
} {
  const first = new Map<string, number>();
  const runs: NewRun[] = [];
  const places = calls.map((run) => {
    const names = namesOf(run);
    const name = names.find((one) => first.has(one));
    const twin = name === undefined ? undefined : first.get(name);
    const place = twin ?? runs.push(run) - 1;
    for (const one of names) if (!first.has(one)) first.set(one, place);
    if (twin !== undefined && name?.startsWith('debounce')) runs[twin] = pushed(runs[twin] as NewRun, run);
    return place;
  });
  return { runs, places };
}

/** Whether both are the children of one attempt, or nobody's. */
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
function pushed(run: NewRun, later: NewRun): NewRun {
  const { due, ord, debounce } = later;
  if (!debounce?.trailing) return { ...run, due, ord };
  const { payload, payloadType, metadata, tags, maxAttempts, maxDuration, machine } = later;
  return {
    ...run,
    due,
    ord,
    debounce,
    payload,
    payloadType,
    metadata,
    tags,
    maxAttempts,
    maxDuration,
    machine,
  };
}
