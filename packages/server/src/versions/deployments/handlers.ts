import type { OperationsOf } from '@millrace/contract';
import { recordHere } from '../../audit/record.ts';
import { isUser, type Principal } from '../../auth/principal.ts';
import { allows } from '../../auth/scopes.ts';
import { forbidden } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { archiveDeployment } from './archive.ts';
import { retrieveBundle } from './bundle.ts';
import { abortCanary } from './abort-canary.ts';
import { createDeployment, type CreateDependencies } from './create.ts';
import { failDeployment } from './fail.ts';
import { finalizeDeployment, type FinalizeDependencies } from './finalize.ts';
import { listDeployments } from './list.ts';
import { moveRuns, type MoveDependencies } from './move.ts';
import { promoteDeployment } from './promote.ts';
import { retrieveCurrent, retrieveDeployment, retrieveLatest } from './retrieve.ts';
import { sourceMaps, type SourceMapDependencies } from './sources/maps.ts';
import { retrieveSource } from './sources/retrieve.ts';
import { compareDeployments } from '../compare/compare.ts';
import { uploadBlob } from './upload.ts';

export interface DeploymentHandlerDependencies
  extends CreateDependencies, FinalizeDependencies, MoveDependencies, SourceMapDependencies {
  /** Runs of this environment may now have a runner, or a runner may load a version. */
  readonly wake: (env: number) => void;
}

export function deploymentHandlers(
  dependencies: DeploymentHandlerDependencies,
): HandlersOf<OperationsOf<'deployments' | 'deploymentsCompare' | 'sources' | 'bundles'>> {
  const { sql, clock, wake } = dependencies;
  const maps = sourceMaps(dependencies);
  const now = (): Date => new Date(clock.now());
  return {
    async createDeployment({ environment, principal, body }) {
      const created = await createDeployment(dependencies, environment, principal, body);
      wake(environment.id);
      return created;
    },

    async uploadBlob({ environment, params, query, body }) {
      const upload = { deployment: params.deploymentId, blob: params.blob, offset: query.offset };
      return { received: await uploadBlob(sql, environment, upload, body) };
    },

    async finalizeDeployment(request) {
      const { environment, params } = request;
      const record = recordHere(environment, request);
      const deployment = await finalizeDeployment(dependencies, environment, params.deploymentId, record);
      wake(environment.id);
      return deployment;
    },

    failDeployment: ({ environment, params, body }) =>
      failDeployment(dependencies, environment.id, params.deploymentId, body.error),

    async promoteDeployment(request) {
      const { environment, params, query, principal } = request;
      const record = recordHere(environment, request);
      try {
        const options = { ...query, authorizeRollback: () => refuseRollback(principal, params.version) };
        return await promoteDeployment(dependencies, environment.id, params.version, options, record);
      } finally {
        // Before rejecting, the server may have requested that runners load the version.
        wake(environment.id);
      }
    },

    async abortCanary(request) {
      const { environment, params } = request;
      const record = recordHere(environment, request);
      const deployment = await abortCanary(dependencies, environment.id, params.version, record);
      wake(environment.id);
      return deployment;
    },

    moveDeployment(request) {
      const { environment, params, body } = request;
      return moveRuns(dependencies, environment.id, params.version, body, recordHere(environment, request));
    },

    archiveDeployment(request) {
      const { environment, params } = request;
      return archiveDeployment(
        dependencies,
        environment.id,
        params.version,
        recordHere(environment, request),
      );
    },

    listDeployments: ({ environment, query }) => listDeployments(sql, environment.id, query, clock.now()),

    retrieveLatestDeployment: ({ environment }) => retrieveLatest(sql, environment.id, now()),

    retrieveCurrentDeployment: ({ environment }) => retrieveCurrent(sql, environment.id, now()),

    retrieveDeployment: ({ environment, params }) =>
      retrieveDeployment(sql, environment.id, params.version, now()),

    compareDeployments: ({ environment, params, query }) =>
      compareDeployments(sql, environment.id, { ...params, ...query }, now()),

    retrieveBundle: ({ environment, params }) => retrieveBundle(sql, environment.id, params.version),

    retrieveSource: ({ environment, params, query }) =>
      retrieveSource({ sql, maps }, environment, params.version, query),
  };
}

/** Permission to deploy does not by itself include rolling back to old code. */
function refuseRollback(principal: Principal, version: string): void {
  if (!isUser(principal) && allows(principal.scopes, 'write', [{ type: 'deployments' }])) return;
  throw forbidden(
    `version ${version} is older than the current one, and this key can promote newer versions only. A rollback requires a key with the scope write:deployments.`,
  );
}
