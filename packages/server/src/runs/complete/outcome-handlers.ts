import type { Operations, OperationsOf } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import { notFound } from '../../problem.ts';
import { allows } from '../../auth/scopes.ts';
import type { HandlersOf, Request } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import { eventsOf, resultOf, traceOf } from './outcome.ts';
import { findRun } from '../access/authorize.ts';
import { readStartConditions } from '../reason/start-conditions.ts';
import { nearestTask } from '../reason/nearest-task.ts';
import { reasonOf } from '../reason/reason.ts';

export function outcomeHandlers(engine: Engine): HandlersOf<OperationsOf<'runsOutcome' | 'runsReason'>> {
  const { sql, clock, versions } = engine;
  /** A token for one run does not give access to the names of other tasks. */
  const nearestTo = async (
    { environment, principal }: Request<Operations['retrieveRunReason']>,
    task: string,
  ): Promise<string | undefined> => {
    const nearest = nearestTask(task, (await versions.current(environment.id))?.tasks.keys() ?? []);
    const scopes = isUser(principal) ? [] : principal.scopes;
    return nearest !== undefined && allows(scopes, 'read', [{ type: 'tasks', id: nearest }])
      ? nearest
      : undefined;
  };
  const unfinished = () => notFound("Run either doesn't exist or is not finished", false, 'run_not_finished');
  return {
    async retrieveRunResult(request) {
      const { id } = await findRun(sql, request, unfinished());
      const result = await resultOf(engine, request.environment.id, id);
      if (!result) throw unfinished();
      return result;
    },

    async listRunEvents(request) {
      const { id } = await findRun(sql, request, notFound('Not found', false, 'run_not_found'));
      return eventsOf(engine, request.environment.id, id);
    },

    async retrieveRunTrace(request) {
      const { id } = await findRun(sql, request, notFound('Trace not found'));
      const trace = await traceOf(engine, request.environment.id, id);
      if (!trace) throw notFound('Trace not found');
      return trace;
    },

    async retrieveRunReason(request) {
      const { id } = await findRun(sql, request, notFound('Run not found', false, 'run_not_found'));
      const conditions = await readStartConditions(sql, request.environment.id, id, new Date(clock.now()));
      if (!conditions) throw notFound('Run not found', false, 'run_not_found');
      const nearest =
        conditions.status === 'PENDING_VERSION' ? await nearestTo(request, conditions.task) : undefined;
      return { id, status: conditions.status, ...reasonOf(conditions, nearest) };
    },
  };
}
