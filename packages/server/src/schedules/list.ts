import type { Operations, Query, Reply } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { Sql } from '../db/connect.ts';
import { lagOf, scheduleOf, type ScheduleLag, type ScheduleRow } from './row.ts';

/** A page of the environment's schedules. */
export async function listSchedules(
  sql: Sql,
  environment: Environment,
  { page, perPage, sort }: Query<Operations['listSchedules']>,
): Promise<Reply<Operations['listSchedules']>> {
  const [rows, [total]] = await Promise.all([
    sql<(ScheduleRow & { lag: ScheduleLag | null })[]>`
      select s.*, ${lagOf(sql)} as lag from schedules s
       where s.env = ${environment.id} and not s.set_aside
       order by ${sort === 'next' ? sql`s.next_at nulls last, ` : sql``} s.id desc limit ${perPage} offset ${(page - 1) * perPage}`,
    sql<
      { count: number }[]
    >`select count(*)::int as count from schedules where env = ${environment.id} and not set_aside`,
  ]);
  const count = total?.count ?? 0;
  return {
    data: rows.map((row) => scheduleOf(row, environment)),
    pagination: { currentPage: page, totalPages: Math.ceil(count / perPage), count },
  };
}
