import { currentClient } from '../client/current-client.ts';
import { fromWire, versionOf, type Deployment, type DeploymentReference } from './deployment.ts';

/** Options for promoting a deployment. */
export interface PromoteOptions {
  /** Whether the version may be older than the current one. Default false. */
  allowRollbacks?: boolean;
  /** Whether to promote even if no connected runner has loaded it. Default false. If true, runs may have to wait for a runner. */
  force?: boolean;
  /**
   * 1 to 99: makes it the canary instead of the current version. This percentage of new runs, chosen by run id, starts on it. If omitted, a
   * canary becomes current, like any other version.
   */
  percent?: number;
}

/** The version that is now current, or the canary. */
export interface Promoted {
  id: string;
  version: string;
  shortCode: string;
  /** The previously current version, or null if there was none. */
  replaced: string | null;
  /** The percentage of new runs if it is now the canary, or null if it is current. */
  canaryPercent: number | null;
}

/**
 * Makes a deployment current: new runs start on it, and started runs stay on their version. Throws a NotFoundError for an unknown deployment,
 * and a ConflictError with the reason if it cannot be promoted: failed, archived, not uploaded, older than the current one, or loaded by no
 * runner.
 *
 * @example
 * await deployments.promote('20261121.3');
 *
 * @example
 * // Back to an older version:
 * await deployments.promote('20261120.1', { allowRollbacks: true });
 *
 * @example
 * // A tenth of the new runs at first:
 * await deployments.promote('20261121.3', { percent: 10 });
 */
export function promote(
  deployment: DeploymentReference,
  { allowRollbacks, force, percent }: PromoteOptions = {},
): Promise<Promoted> {
  const params = { version: versionOf(deployment) };
  const query = {
    allowRollbacks: allowRollbacks === undefined ? undefined : String(allowRollbacks),
    force: force === undefined ? undefined : String(force),
    percent,
  };
  return currentClient().call('promoteDeployment', { params, query });
}

/**
 * Frees the files of a deployment that is not current. Throws a NotFoundError for an unknown deployment, and a ConflictError while it is
 * current or live runs are bound to it.
 *
 * @example
 * await deployments.archive('20261101.1');
 */
export async function archive(deployment: DeploymentReference): Promise<Deployment> {
  const params = { version: versionOf(deployment) };
  return fromWire(await currentClient().call('archiveDeployment', { params }));
}

/**
 * Ends the canary: new runs start on the current version again, and runs that started on the canary stay on it. Throws a ConflictError if the
 * deployment is not the canary.
 *
 * @example
 * await deployments.abortCanary('20261121.3');
 */
export async function abortCanary(deployment: DeploymentReference): Promise<Deployment> {
  const params = { version: versionOf(deployment) };
  return fromWire(await currentClient().call('abortCanary', { params }));
}
