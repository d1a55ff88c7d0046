import type { RecordHere } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import { propertiesOf, findSchedule } from './row.ts';
import { scheduleNotFound } from './update.ts';

/** Deletes a schedule with its ticks; its runs are kept. A declared schedule returns with the next version that declares it. */
export async function deleteSchedule(
  sql: Sql,
  env: number,
  idOrKey: string,
  record: RecordHere,
): Promise<{ id: string }> {
  return sql.begin(async (tx) => {
    const row = await findSchedule(tx, env, idOrKey, true);
    if (!row) throw scheduleNotFound();
    await tx`delete from schedules where env = ${env} and id = ${row.id}`;
    await record(tx, { act: 'schedule.deleted', target: row.id, old: propertiesOf(row) });
    return { id: row.id };
  });
}
