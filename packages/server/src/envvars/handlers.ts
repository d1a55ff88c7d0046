import { isAtLeast, type Operations, type OperationsOf, type Role } from '@millrace/contract';
import { isUser, type Principal } from '../auth/principal.ts';
import { isUnrestricted } from '../auth/scopes.ts';
import { findTarget, otherProject } from '../auth/target.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { ChangeDependencies } from './change.ts';
import { deleteVariable } from './delete.ts';
import { compareRevisions, listRevisions } from './history.ts';
import { importVariables } from './import.ts';
import { listVariables } from './list.ts';
import { opened, readVariables } from './read.ts';
import { retrieveVariable } from './retrieve.ts';
import { rollBack } from './rollback.ts';
import { createVariable, updateVariable, type Caller } from './set.ts';

const done = { success: true };

export function variableHandlers(dependencies: ChangeDependencies): HandlersOf<OperationsOf<'envvars'>> {
  const { sql, masterKey } = dependencies;

  type Addressed = Pick<
    Request<Operations['listVariables']>,
    'params' | 'principal' | 'role' | 'header' | 'origin'
  >;
  const target = (request: Addressed) => findTarget(sql, request);
  const caller = async (request: Addressed): Promise<Caller> => ({
    environment: await target(request),
    by: request,
    isAdmin: isAdmin(request),
  });

  const update = async (
    request: Addressed & Pick<Request<Operations['updateVariable']>, 'params' | 'body'>,
  ) => {
    const { name } = request.params;
    await updateVariable(dependencies, await caller(request), { name, value: request.body.value });
    return done;
  };

  return {
    listVariables: async (request) => listVariables(sql, masterKey, await target(request)),

    async retrieveVariable(request) {
      const environment = await target(request);
      const found = await retrieveVariable(sql, masterKey, environment, request.params.name);
      if (!found) throw notFound('Environment variable not found');
      return found;
    },

    async createVariable(request) {
      await createVariable(dependencies, await caller(request), request.body);
      return done;
    },

    updateVariable: update,
    updateVariableByPost: update,

    async deleteVariable(request) {
      await deleteVariable(dependencies, await caller(request), request.params.name);
      return done;
    },

    async importVariables(request) {
      await importVariables(dependencies, await caller(request), request.body);
      return done;
    },

    async readVariables(request) {
      const { id, projectRef } = request.environment;
      if (request.params.projectRef !== projectRef) throw otherProject(projectRef);
      const { variables, revision } = await readVariables(sql, id);
      const entries = [...variables.values()].map(
        (variable) => [variable.name, opened(masterKey, variable)] as const,
      );
      return { variables: Object.fromEntries(entries), revision };
    },

    async listVariableRevisions(request) {
      const { 'page[size]': size, 'page[after]': after } = request.query;
      return listRevisions(sql, await target(request), { size, after });
    },

    async compareVariableRevisions(request) {
      const { from, to } = request.query;
      return compareRevisions(sql, masterKey, await target(request), { from, to });
    },

    async rollBackVariables(request) {
      const { revision, changes } = await rollBack(
        dependencies,
        await caller(request),
        request.body.revision,
      );
      return { success: true, revision, changes: [...changes] };
    },
  };
}

/** An unrestricted secret key, or a user who may create one. Runs may not, because the variables could be used to control them. */
function isAdmin({
  principal,
  role,
}: {
  readonly principal: Principal;
  readonly role: Role | undefined;
}): boolean {
  if (isUser(principal)) return role !== undefined && isAtLeast(role, 'admin');
  return principal.kind === 'secretKey' && !principal.attempt && isUnrestricted(principal.scopes);
}
