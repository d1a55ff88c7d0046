import type { Operations, Query, Reply, RunStatus, ScheduleTick } from '@millrace/contract';
import { onwardPage } from '../page.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { liveStatus, whereabouts } from '../runs/retrieve/retrieve.ts';
import { findSchedule } from './row.ts';
import { scheduleNotFound } from './update.ts';

interface FiredRow {
  readonly nominal_at: Date;
  readonly due_at: Date;
  readonly fired_at: Date;
  readonly backfilled: boolean;
  readonly run_id: string;
  readonly status: RunStatus | null;
}

interface SkippedRow {
  readonly from_at: Date;
  readonly until_at: Date;
  readonly reason: Extract<ScheduleTick, { outcome: 'skipped' }>['reason'];
  readonly recorded_at: Date;
}

/** Ticks that created a run and those that created none, newest first. The cursor is a tick's nominal time: each has its own. */
export async function listTicks(
  { sql }: Engine,
  env: number,
  idOrKey: string,
  query: Query<Operations['listScheduleTicks']>,
): Promise<Reply<Operations['listScheduleTicks']>> {
  const schedule = await findSchedule(sql, env, idOrKey);
  if (!schedule) throw scheduleNotFound();
  const size = query['page[size]'];
  const outcome = query['filter[outcome]'];
  const before = query['page[after]'] ?? 'infinity';
  const [fired, skipped] = await Promise.all([
    outcome === 'skipped'
      ? []
      : sql<FiredRow[]>`
          select t.nominal_at, t.due_at, t.fired_at, t.backfilled, t.run_id,
                 case when f.id is not null then ${liveStatus(sql)} end as status
            from (select * from schedule_ticks x
                   where x.env = ${env} and x.schedule_id = ${schedule.id} and x.nominal_at < ${before}::timestamptz
                   order by x.nominal_at desc limit ${size + 1}) t
            left join runs f on f.env = t.env and f.id = t.run_id ${whereabouts(sql)}
           order by t.nominal_at desc`,
    outcome === 'fired'
      ? []
      : sql<SkippedRow[]>`
          select from_at, until_at, reason, recorded_at from schedule_skips
           where env = ${env} and schedule_id = ${schedule.id} and from_at < ${before}::timestamptz
           order by from_at desc limit ${size + 1}`,
  ]);
  const ticks: ScheduleTick[] = [
    ...fired.map((row) => ({
      outcome: 'fired' as const,
      nominalAt: row.nominal_at.toISOString(),
      dueAt: row.due_at.toISOString(),
      firedAt: row.fired_at.toISOString(),
      backfilled: row.backfilled,
      runId: row.run_id,
      ...(row.status !== null && { status: row.status }),
    })),
    ...skipped.map((row) => ({
      outcome: 'skipped' as const,
      nominalAt: row.from_at.toISOString(),
      untilAt: row.until_at.toISOString(),
      reason: row.reason,
      recordedAt: row.recorded_at.toISOString(),
    })),
  ].toSorted((a, b) => (a.nominalAt < b.nominalAt ? 1 : -1));
  const { page: data, pagination } = onwardPage(ticks, size, (last) => last.nominalAt);
  return { data, pagination };
}
