import type { RecordHere } from '../audit/record.ts';
import type { Queryable } from '../db/connect.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { tickAfter } from './pattern.ts';
import { findSchedule, patternOf, type ScheduleRow } from './row.ts';
import { readable } from './settings.ts';
import { scheduleNotFound } from './update.ts';

/** Activates or deactivates a schedule. After activation its ticks begin from now: earlier ones do not count as missed. */
export async function setActive(
  { sql, clock }: Engine,
  env: number,
  idOrKey: string,
  active: boolean,
  record?: RecordHere,
): Promise<ScheduleRow> {
  return sql.begin(async (tx) => {
    const row = await findSchedule(tx, env, idOrKey, true);
    if (!row) throw scheduleNotFound();
    return switchTo(tx, row, active, clock.now(), record);
  });
}

/** The same for a locked row. */
export async function switchTo(
  tx: Queryable,
  row: ScheduleRow,
  active: boolean,
  now: number,
  record?: RecordHere,
): Promise<ScheduleRow> {
  if (row.active === active) return row;
  const next = active ? readable(() => tickAfter(patternOf(row), now)) : undefined;
  const [changed] = await tx<ScheduleRow[]>`
    update schedules set
      active = ${active}, since = ${active ? new Date(now) : row.since},
      next_nominal = ${next ? new Date(next.nominal) : null}, next_at = ${next ? new Date(next.due) : null}
     where env = ${row.env} and id = ${row.id}
    returning *`;
  const act = active ? 'schedule.activated' : 'schedule.deactivated';
  await record?.(tx, { act, target: row.id, new: { task: row.task } });
  return changed ?? row;
}
