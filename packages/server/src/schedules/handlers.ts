import type { Operations, OperationsOf } from '@millrace/contract';
import { recordHere } from '../audit/record.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import type { TakeRuns } from '../runs/create/quota.ts';
import type { HandlersOf, Request } from '../request.ts';
import { setActive } from './activate.ts';
import { backfillSchedule } from './backfill.ts';
import { createSchedule } from './create.ts';
import { deleteSchedule } from './delete.ts';
import { listSchedules } from './list.ts';
import { previewSchedule } from './preview.ts';
import { retrieveSchedule } from './retrieve.ts';
import { scheduleOf, type ScheduleRow } from './row.ts';
import { listTicks } from './ticks.ts';
import { timezones } from './timezones.ts';
import { updateSchedule } from './update.ts';

export interface ScheduleHandlerDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  readonly takeRuns: TakeRuns;
  readonly expect: (at: number) => void;
}

export function scheduleHandlers({
  engine,
  dispatch,
  takeRuns,
  expect,
}: ScheduleHandlerDependencies): HandlersOf<OperationsOf<'schedules'>> {
  const { sql } = engine;
  const expected = (row: ScheduleRow): ScheduleRow => {
    if (row.next_at) expect(row.next_at.getTime());
    return row;
  };
  type Switched = Request<Operations['activateSchedule' | 'deactivateSchedule']>;
  const activate = (request: Switched, active: boolean) => {
    const { environment, params } = request;
    return setActive(engine, environment.id, params.scheduleId, active, recordHere(environment, request));
  };

  return {
    async createSchedule(request) {
      const { environment, body } = request;
      const row = await createSchedule(engine, environment.id, body, recordHere(environment, request));
      return scheduleOf(expected(row), environment, true);
    },

    listSchedules: ({ environment, query }) => listSchedules(sql, environment, query),

    retrieveSchedule: ({ environment, params }) => retrieveSchedule(sql, environment, params.scheduleId),

    async updateSchedule(request) {
      const { environment, params, body } = request;
      const record = recordHere(environment, request);
      const row = await updateSchedule(engine, environment.id, params.scheduleId, body, record);
      return scheduleOf(expected(row), environment, true);
    },

    async deleteSchedule(request) {
      const { environment, params } = request;
      return deleteSchedule(sql, environment.id, params.scheduleId, recordHere(environment, request));
    },

    activateSchedule: async (request) =>
      scheduleOf(expected(await activate(request, true)), request.environment),

    deactivateSchedule: async (request) => scheduleOf(await activate(request, false), request.environment),

    previewSchedule: ({ environment, params, query }) =>
      previewSchedule(engine, environment.id, params.scheduleId, query),

    listScheduleTicks: ({ environment, params, query }) =>
      listTicks(engine, environment.id, params.scheduleId, query),

    async backfillSchedule(request) {
      const { environment, params, body } = request;
      const take = (runs: number): void => takeRuns(request, runs);
      const done = await backfillSchedule(engine, environment, params.scheduleId, body, take);
      if (done.runs.length > 0) dispatch.wake(environment.id);
      return done;
    },

    listTimezones: async ({ query }) => ({ timezones: timezones(query.excludeUtc !== 'true') }),
  };
}
