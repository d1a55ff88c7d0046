import type { OverlapRule } from '@millrace/contract';
import { fixedOffset, tickAfter, tickAt, tickBefore, type Pattern, type Tick } from './pattern.ts';
import type { MissedRule } from './rules.ts';

export type SkipReason = 'missed' | 'overlap' | 'no_runner' | 'no_task' | 'archived' | 'failed';

/** Every tick from one to another, inclusive. */
export interface Skip {
  readonly from: number;
  readonly until: number;
  readonly reason: SkipReason;
}

export interface DueSchedule {
  readonly pattern: Pattern;
  /** The pattern's ticks are strictly after this time. */
  readonly since: number;
  /** The first tick that was not fired; it may be one of an earlier pattern. */
  readonly first: number;
  readonly missed: MissedRule;
  readonly overlap: OverlapRule;
  /** Whether an earlier run has not ended. */
  readonly busy: boolean;
  /** The reason that none may fire. */
  readonly stopped: SkipReason | undefined;
}

export interface Plan {
  /** Oldest first. */
  readonly fire: readonly Tick[];
  readonly skip: readonly Skip[];
  /** The first remaining tick, due or not. */
  readonly next: Tick | undefined;
}

/**
 * Plans the due ticks of a schedule: which ones create a run, which are skipped and why, and which one is next. At most `max` fire at once;
 * the rest remain due. The cost does not depend on the time since the last call.
 */
export function planTicks(schedule: DueSchedule, now: number, max: number): Plan {
  const { pattern, since, first, missed, overlap, stopped } = schedule;
  const following = (nominal: number) => tickAfter(pattern, Math.max(nominal, since));
  const last = latestDue(schedule, now);
  const next = following(last.nominal);
  if (stopped !== undefined)
    return { fire: [], skip: [{ from: first, until: last.nominal, reason: stopped }], next };

  const tick = firstToFire(schedule, last, now - missed.withinMs);
  const skip: Skip[] = [];
  if (tick === undefined)
    return { fire: [], skip: [{ from: first, until: last.nominal, reason: 'missed' }], next };
  if (tick.nominal > first) {
    const before = tickBefore(pattern, tick.nominal)?.nominal ?? first;
    skip.push({ from: first, until: before > since ? Math.max(first, before) : first, reason: 'missed' });
  }
  const overlapping = (from: Tick, until: Tick): Skip => ({
    from: from.nominal,
    until: until.nominal,
    reason: 'overlap',
  });
  if (overlap === 'skip') {
    // The first one runs, and the others become due while it does.
    const second = schedule.busy ? tick : following(tick.nominal);
    if (second && second.nominal <= last.nominal) skip.push(overlapping(second, last));
    return { fire: schedule.busy ? [] : [tick], skip, next };
  }
  if (overlap === 'cancel') {
    // Each would end the previous one, so only the last is worth starting.
    const before = tick.nominal < last.nominal ? tickBefore(pattern, last.nominal) : undefined;
    if (before) skip.push(overlapping(tick, before.nominal < tick.nominal ? tick : before));
    return { fire: [last], skip, next };
  }
  const fire: Tick[] = [];
  let at: Tick | undefined = tick;
  while (at && at.nominal <= last.nominal && fire.length < max) {
    fire.push(at);
    at = following(at.nominal);
  }
  return { fire, skip, next: at };
}

/** The last tick that should have started by now. */
function latestDue({ pattern, since, first }: DueSchedule, now: number): Tick {
  let last = tickBefore(pattern, now - fixedOffset(pattern) + 1);
  // The window is a share of the interval, so the previous tick has started before this one's nominal time.
  if (last && last.due > now) last = tickBefore(pattern, last.nominal);
  return last && last.nominal > first && last.nominal > since ? last : tickAt(pattern, first);
}

/** The first due tick that is not missed: it should have started at `earliest` or later, or the rule always runs the latest. */
function firstToFire(
  { pattern, since, first, missed }: DueSchedule,
  last: Tick,
  earliest: number,
): Tick | undefined {
  const start = tickAt(pattern, first);
  if (start.due >= earliest) return start;
  let tick = tickAfter(pattern, Math.max(first, since, earliest - fixedOffset(pattern) - 1));
  const before = tick && tickBefore(pattern, tick.nominal);
  if (before && before.nominal > Math.max(first, since) && before.due >= earliest) tick = before;
  if (tick && tick.nominal <= last.nominal) return tick;
  return missed.latest ? last : undefined;
}
