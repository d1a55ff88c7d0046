import type { Operations, OperationsOf } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import type { HandlersOf, Request } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import { countRuns } from './count.ts';
import { listRuns } from './list.ts';
import { environmentsOf } from './project-environments.ts';

export function listHandlers({
  sql,
  clock,
}: Pick<Engine, 'sql' | 'clock'>): HandlersOf<OperationsOf<'runsList'>> {
  return {
    async countRuns(request) {
      const { environment, query } = request;
      authorizeTasks(request, query['filter[taskIdentifier]']);
      const all = { ...query, 'page[size]': 1 };
      return countRuns(sql, [environment.id], all, clock.now());
    },

    async listRuns(request) {
      const { environment, query } = request;
      authorizeTasks(request, query['filter[taskIdentifier]']);
      return listRuns(sql, { envs: [environment.id], query, now: clock.now() });
    },

    async listProjectRuns({ principal, params, query }) {
      if (!isUser(principal)) throw new TypeError('Only a user can call this operation.');
      const envs = await environmentsOf(sql, principal.userId, params.projectRef, query['filter[env]']);
      return listRuns(sql, { envs, query, now: clock.now() });
    },
  };
}

/** Callers who may only read some tasks must name them. */
function authorizeTasks(
  request: Pick<Request<Operations['listRuns']>, 'authorize'>,
  tasks: readonly string[] = [],
): void {
  if (tasks.length === 0) request.authorize([{ type: 'runs' }, { type: 'tasks' }]);
  for (const id of tasks) request.authorize([{ type: 'runs' }, { type: 'tasks', id }]);
}
