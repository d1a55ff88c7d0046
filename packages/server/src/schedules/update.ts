import { isDeepStrictEqual } from 'node:util';
import type { Body, Operations } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Queryable } from '../db/connect.ts';
import { notFound, unprocessable } from '../problem.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { propertiesOf, findSchedule, type ScheduleRow } from './row.ts';
import { ensureQueue, readSettings, type Settings } from './settings.ts';
import { requireScheduledTask } from './tasks.ts';

export const scheduleNotFound = () => notFound('Schedule not found');

/** Replaces the settings of a schedule: omitted ones are set to their defaults. The task is validated and cannot change. */
export async function updateSchedule(
  engine: Engine,
  env: number,
  idOrKey: string,
  body: Body<Operations['updateSchedule']>,
  record?: RecordHere,
): Promise<ScheduleRow> {
  changeable(await findSchedule(engine.sql, env, idOrKey));
  // Runs before the transaction, because it may query the database over a separate connection.
  await requireScheduledTask(engine, env, body.task);
  return engine.sql.begin(async (tx) => {
    const row = changeable(await findSchedule(tx, env, idOrKey, true));
    return replaceSettings(tx, row, body, engine.clock.now(), record);
  });
}

function changeable(row: ScheduleRow | undefined): ScheduleRow {
  if (!row) throw scheduleNotFound();
  if (row.type === 'DECLARATIVE') {
    throw unprocessable(
      `Cannot update a declarative schedule: change the cron of task ${row.task} in its code and deploy it.`,
    );
  }
  return row;
}

/** Writes new settings over a locked row. */
export async function replaceSettings(
  sql: Queryable,
  row: ScheduleRow,
  settings: Settings,
  now: number,
  record?: RecordHere,
): Promise<ScheduleRow> {
  const to = readSettings(row.id, settings, now, row);
  await ensureQueue(sql, row.env, to.overlap);
  const [updated] = await sql<ScheduleRow[]>`
    update schedules set
      cron = ${to.cron}, description = ${to.description}, timezone = ${to.timezone}, spread = ${to.spread},
      external_id = ${to.externalId}, missed = ${to.missed}, overlap = ${to.overlap}, since = ${to.since},
      next_nominal = ${to.nextNominal}, next_at = ${to.nextAt}
     where env = ${row.env} and id = ${row.id}
    returning *`;
  if (!updated) throw scheduleNotFound();
  const [old, current] = [propertiesOf(row), propertiesOf(updated)];
  // Programs set their schedules each time they start: only actual changes are recorded.
  if (!isDeepStrictEqual(old, current))
    await record?.(sql, { act: 'schedule.updated', target: row.id, old, new: current });
  return updated;
}
