import type { Schedule } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { Sql } from '../db/connect.ts';
import { findSchedule, lagOf, scheduleOf, type ScheduleLag } from './row.ts';
import { scheduleNotFound } from './update.ts';

/** One schedule, with the lag of its latest runs. 404 if the environment has no schedule with this id or key. */
export async function retrieveSchedule(
  sql: Sql,
  environment: Environment,
  idOrKey: string,
): Promise<Schedule> {
  const row = await findSchedule(sql, environment.id, idOrKey);
  if (!row) throw scheduleNotFound();
  const [late] = await sql<{ lag: ScheduleLag | null }[]>`
    select ${lagOf(sql)} as lag from schedules s where s.env = ${environment.id} and s.id = ${row.id}`;
  return scheduleOf({ ...row, lag: late?.lag ?? null }, environment);
}
