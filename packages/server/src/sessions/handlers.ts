import type { Operations } from '@millrace/contract';
import { forbidden } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import { closeSession, continueSession, updateSession, type CloseDependencies } from './change.ts';
import { createSession, type CreateDependencies } from './create.ts';
import { reachSession } from './find.ts';
import { listSessions } from './list.ts';
import { sessionOf } from './row.ts';

type Named = Pick<
  Operations,
  'createSession' | 'listSessions' | 'retrieveSession' | 'updateSession' | 'closeSession' | 'continueSession'
>;

export function sessionHandlers(dependencies: CreateDependencies & CloseDependencies): HandlersOf<Named> {
  const { engine } = dependencies;
  const { sql, clock } = engine;
  const reach = (
    request: Pick<Request<Named['retrieveSession']>, 'environment' | 'authorize' | 'params'>,
    missing?: string,
  ) => reachSession(sql, request, request.params.session, missing);

  return {
    async createSession(request) {
      const { principal, body } = request;
      if (principal.kind === 'personalAccessToken') throw forbidden();
      // A scope pinned to one session makes none; one of the task that serves it does.
      const created = await createSession(dependencies, principal, body, (task) =>
        request.authorize([{ type: 'sessions' }, { type: 'tasks', id: task }]),
      );
      if (created.isCached) request.setStatus(200);
      return created;
    },

    async listSessions(request) {
      const tasks = request.query['filter[taskIdentifier]'] ?? [];
      if (tasks.length === 0) request.authorize([{ type: 'sessions' }, { type: 'tasks' }]);
      // All of them: who may not see the sessions of one learns nothing of the others.
      for (const task of tasks) request.authorize([{ type: 'sessions' }, { type: 'tasks', id: task }]);
      return listSessions(sql, request.environment.id, request.query, clock.now());
    },

    retrieveSession: async (request) => sessionOf(await reach(request, 'Not found')),

    updateSession: async (request) =>
      sessionOf(await updateSession(engine, await reach(request), request.body)),

    closeSession: async (request) =>
      sessionOf(await closeSession(dependencies, await reach(request), request.body.reason ?? null)),

    async continueSession(request) {
      const row = await reach(request);
      return continueSession(dependencies, request.environment, row, request.body.callingRunId);
    },
  };
}
