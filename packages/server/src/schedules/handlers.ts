import type { Operations } from '@millrace/contract';
import type { Dispatch } from '../runs/dispatch.ts';
import type { Engine } from '../runs/engine.ts';
import type { HandlersOf } from '../request.ts';
import { setActive } from './activate.ts';
import { backfillSchedule } from './backfill.ts';
import { createSchedule } from './create.ts';
import { listSchedules } from './list.ts';
import { previewSchedule } from './preview.ts';
import { retrieveSchedule } from './retrieve.ts';
import { scheduleOf, type ScheduleRow } from './row.ts';
import type { Scheduler } from './scheduler.ts';
import { timezones } from './timezones.ts';
import { scheduleNotFound, updateSchedule } from './update.ts';

type Named = Pick<
  Operations,
  | 'createSchedule'
  | 'listSchedules'
  | 'retrieveSchedule'
  | 'updateSchedule'
  | 'deleteSchedule'
  | 'activateSchedule'
  | 'deactivateSchedule'
  | 'previewSchedule'
  | 'backfillSchedule'
  | 'listTimezones'
>;

export interface ScheduleHandlerDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  readonly expect: Scheduler['expect'];
}

export function scheduleHandlers({
  engine,
  dispatch,
  expect,
}: ScheduleHandlerDependencies): HandlersOf<Named> {
  const { sql } = engine;
  const expected = (row: ScheduleRow): ScheduleRow => {
    if (row.next_at) expect(row.next_at.getTime());
    return row;
  };

  return {
    createSchedule: async ({ environment, body }) =>
      scheduleOf(expected(await createSchedule(engine, environment.id, body)), environment, true),

    listSchedules: ({ environment, query }) => listSchedules(sql, environment, query),

    retrieveSchedule: ({ environment, params }) => retrieveSchedule(sql, environment, params.scheduleId),

    updateSchedule: async ({ environment, params, body }) =>
      scheduleOf(
        expected(await updateSchedule(engine, environment.id, params.scheduleId, body)),
        environment,
        true,
      ),

    async deleteSchedule({ environment, params: { scheduleId } }) {
      const [row] = await sql<{ id: string }[]>`
        delete from schedules where env = ${environment.id} and ${
          scheduleId.startsWith('sched_') ? sql`id = ${scheduleId}` : sql`deduplication_key = ${scheduleId}`
        } returning id`;
      if (!row) throw scheduleNotFound();
      return { id: row.id };
    },

    activateSchedule: async ({ environment, params }) =>
      scheduleOf(expected(await setActive(engine, environment.id, params.scheduleId, true)), environment),

    deactivateSchedule: async ({ environment, params }) =>
      scheduleOf(await setActive(engine, environment.id, params.scheduleId, false), environment),

    previewSchedule: ({ environment, params, query }) =>
      previewSchedule(engine, environment.id, params.scheduleId, query),

    async backfillSchedule({ environment, params, body }) {
      const done = await backfillSchedule(engine, environment, params.scheduleId, body);
      if (done.runs.length > 0) dispatch.wake(environment.id);
      return done;
    },

    listTimezones: async ({ query }) => ({ timezones: timezones(query.excludeUtc !== 'true') }),
  };
}
