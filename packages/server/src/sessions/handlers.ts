import type { Operations, OperationsOf } from '@millrace/contract';
import { isUser } from '../auth/principal.ts';
import { forbidden } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import { closeSession, continueSession, updateSession, type CloseDependencies } from './change.ts';
import { createSession, type CreateDependencies } from './create.ts';
import { authorizeSession } from './find.ts';
import { listSessions } from './list.ts';
import type { PacketAddresses } from '../payloads/url.ts';
import { sessionOf } from './row.ts';
import { snapshotAddress } from './snapshot.ts';

export interface SessionHandlerDependencies extends CreateDependencies, CloseDependencies {
  readonly addresses: Pick<PacketAddresses, 'sign'>;
}

export function sessionHandlers(
  dependencies: SessionHandlerDependencies,
): HandlersOf<OperationsOf<'sessions'>> {
  const { engine, addresses } = dependencies;
  const { sql, clock } = engine;
  const authorize = (
    request: Pick<Request<Operations['retrieveSession']>, 'environment' | 'authorize' | 'params'>,
    missing?: string,
  ) => authorizeSession(sql, request, request.params.session, missing);

  return {
    async createSession(request) {
      const { principal, body } = request;
      if (isUser(principal)) throw forbidden();
      // A scope for one session does not permit creating a session, but a scope for its task does.
      const created = await createSession(dependencies, principal, body, (task) =>
        request.authorize([{ type: 'sessions' }, { type: 'tasks', id: task }]),
      );
      if (created.isCached) request.setStatus(200);
      return created;
    },

    async listSessions(request) {
      const tasks = request.query['filter[taskIdentifier]'] ?? [];
      if (tasks.length === 0) request.authorize([{ type: 'sessions' }, { type: 'tasks' }]);
      // The caller must have permission to see the sessions of all tasks it names.
      for (const task of tasks) request.authorize([{ type: 'sessions' }, { type: 'tasks', id: task }]);
      return listSessions(sql, request.environment.id, request.query, clock.now());
    },

    retrieveSession: async (request) => sessionOf(await authorize(request, 'Not found')),

    updateSession: async (request) =>
      sessionOf(await updateSession(engine, await authorize(request), request.body)),

    closeSession: async (request) =>
      sessionOf(await closeSession(dependencies, await authorize(request), request.body.reason ?? null)),

    async continueSession(request) {
      const row = await authorize(request);
      return continueSession(dependencies, request.environment, row, request.body.callingRunId);
    },

    retrieveSessionSnapshot: async (request) =>
      snapshotAddress({ clock, addresses }, request, await authorize(request), 'get'),

    storeSessionSnapshot: async (request) =>
      snapshotAddress({ clock, addresses }, request, await authorize(request), 'put'),
  };
}
