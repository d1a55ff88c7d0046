import { currentClient } from '../client/current-client.ts';
import { fromWire, versionOf, type Deployment, type DeploymentReference } from './deployment.ts';

/** What a promotion may do. */
export interface PromoteOptions {
  /** Whether the version may be older than the current one. Default false. */
  allowRollbacks?: boolean;
  /** Whether no connected runner needs to have loaded it. Default false: runs would wait for one. */
  force?: boolean;
}

/** A version that is current now. */
export interface Promoted {
  id: string;
  version: string;
  shortCode: string;
  /** The version that was current before; null for none. */
  replaced: string | null;
}

/**
 * Makes a deployment current: new runs start on it, and runs that have started stay on theirs. Throws a NotFoundError for an unknown one,
 * a ConflictError that says why it cannot be promoted: failed, archived, not uploaded, older than the current one, or loaded by no runner.
 *
 * @example
 * await deployments.promote('20261121.3');
 *
 * @example
 * // Back to an older version:
 * await deployments.promote('20261120.1', { allowRollbacks: true });
 */
export function promote(
  deployment: DeploymentReference,
  { allowRollbacks, force }: PromoteOptions = {},
): Promise<Promoted> {
  const params = { version: versionOf(deployment) };
  const query = {
    allowRollbacks: allowRollbacks === undefined ? undefined : String(allowRollbacks),
    force: force === undefined ? undefined : String(force),
  };
  return currentClient().call('promoteDeployment', { params, query });
}

/**
 * Frees the files of a deployment that is not current. Throws a NotFoundError for an unknown one, a ConflictError while it is current or
 * live runs are bound to it.
 *
 * @example
 * await deployments.archive('20261101.1');
 */
export async function archive(deployment: DeploymentReference): Promise<Deployment> {
  const params = { version: versionOf(deployment) };
  return fromWire(await currentClient().call('archiveDeployment', { params }));
}
