import type { History } from '../history/types.ts';
import { groupBy, type Violation } from './violation.ts';

/** Each due tick fired once, or was skipped with a reason. */
export function checkTicks({ effects, stored }: History): Violation[] {
  const violations: Violation[] = [];
  const broken = (detail: string): number => violations.push({ promise: 'schedule', detail });
  const fired = groupBy(stored.ticks, ({ nominal }) => nominal);
  for (const nominal of stored.due) {
    const count = fired.get(nominal)?.length ?? 0;
    const isSkipped = stored.skips.some(({ from, until }) => from <= nominal && nominal <= until);
    if (count > 1) broken(`tick ${nominal} fired ${count} times`);
    if (count === 0 && !isSkipped) broken(`tick ${nominal} neither fired nor was skipped`);
    if (count > 0 && isSkipped) broken(`tick ${nominal} fired and was skipped`);
  }
  const runs = new Map(stored.ticks.map(({ nominal, run }) => [nominal, run]));
  for (const { key, run, point } of effects) {
    const expected = point === 'tick' ? runs.get(key) : undefined;
    if (expected !== undefined && expected !== run)
      broken(`tick ${key} executed as run ${run}, its run is ${expected}`);
  }
  return violations;
}
