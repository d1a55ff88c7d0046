import type { Attempt, WaitedFor } from '@millrace/contract';
import type { AttemptRow } from './rows.ts';
import { iso } from '../values/iso.ts';

/** The properties of a run before its first attempt. */
export interface RunStart {
  readonly created_at: Date;
  readonly delayed_until: Date | null;
  /** When the batch received its last item; null without a batch or before then. */
  readonly sealed_at: Date | null;
  /** Whether the run is in a batch. */
  readonly batch: boolean;
}

/** A period in which a run waited without code. For a run that is still waiting, the last one has no end. */
export interface Gap {
  readonly kind: WaitedFor['kind'];
  readonly from: number;
  readonly until: number | undefined;
}

/**
 * The waits of a run between `previous`, or its creation, and the start of the next attempt (undefined if it has not started). `waitsOver`
 * contains the times at which waits of its code ended.
 */
export function gapsBefore(
  start: RunStart,
  previous: AttemptRow | undefined,
  next: number | undefined,
  waitsOver: readonly Date[] = [],
): Gap[] {
  const gaps: Gap[] = [];
  const last = next ?? Number.POSITIVE_INFINITY;
  let from = Math.min(last, (previous?.ended_at ?? start.created_at).getTime());
  /** `until` is undefined for a wait without a known end. */
  const waits = (kind: Gap['kind'], until: number | undefined): void => {
    const end = until ?? next;
    const to = Math.min(last, end ?? Number.POSITIVE_INFINITY);
    if (to > from) gaps.push({ kind, from, until: Number.isFinite(to) ? to : undefined });
    from = Math.max(from, to);
  };
  if (!previous) {
    if (start.batch) waits('batch', start.sealed_at?.getTime());
    if (start.delayed_until) waits('delay', start.delayed_until.getTime());
  } else if (previous.status === 'FAILED') {
    waits('retry', previous.due?.getTime());
  } else if (previous.status === 'DETACHED') {
    const over = waitsOver.map((date) => date.getTime()).filter((time) => time <= last);
    waits('wait', over.length === 0 ? undefined : Math.max(...over));
  }
  waits('queue', next);
  return gaps;
}

/** The attempts of one run, in order, in the API's format. `previous` is the attempt before the first of them. */
export function composeAttempts(
  start: RunStart,
  rows: readonly AttemptRow[],
  waitsOver: readonly Date[],
  previous?: AttemptRow,
): Attempt[] {
  let before = previous;
  return rows.map((row) => {
    // The clocks of two servers may differ slightly, but an attempt must never appear to begin before the previous one ended.
    const startedAt = Math.max(row.started_at.getTime(), before?.ended_at?.getTime() ?? 0);
    const waitedFor = gapsBefore(start, before, startedAt, waitsOver).map(({ kind, from, until }) => ({
      kind,
      from: iso(from),
      until: iso(until ?? startedAt),
    }));
    before = row;
    const endedAt = row.ended_at && Math.max(startedAt, row.ended_at.getTime());
    return {
      number: row.number,
      status: row.status,
      waitedFor,
      startedAt: iso(startedAt),
      ...(endedAt !== null && { endedAt: iso(endedAt) }),
      durationMs: Number(row.active_ms),
      ...(row.runner_id !== null && {
        runner: { id: row.runner_id, host: row.host ?? '', pid: row.pid ?? 0 },
      }),
      ...(row.version !== null && { version: row.version }),
      ...(row.env_revision !== null && { variablesRevision: row.env_revision }),
      ...(row.error && {
        error: {
          ...row.error,
          message: row.error.message ?? '',
          ...(row.group !== null && { group: row.group }),
        },
      }),
      ...(row.due &&
        endedAt !== null && {
          retryAt: row.due.toISOString(),
          retryDelayMs: Math.max(0, row.due.getTime() - endedAt),
        }),
    };
  });
}
