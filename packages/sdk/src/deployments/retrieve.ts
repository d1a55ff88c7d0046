import { currentClient } from '../client/current-client.ts';
import { fromWire, versionOf, type Deployment, type DeploymentReference } from './deployment.ts';

/**
 * One deployment, by its version or id. Throws a NotFoundError for an unknown one.
 *
 * @example
 * const { state, liveRuns } = await deployments.retrieve('20261121.3');
 */
export async function retrieve(deployment: DeploymentReference): Promise<Deployment> {
  const params = { version: versionOf(deployment) };
  return fromWire(await currentClient().call('retrieveDeployment', { params }));
}

/**
 * The current deployment: new runs start on it. Throws a NotFoundError if the environment has none.
 *
 * @example
 * const { version, git } = await deployments.retrieveCurrent();
 */
export const retrieveCurrent = async (): Promise<Deployment> =>
  fromWire(await currentClient().call('retrieveCurrentDeployment'));

/**
 * The newest deployment, current or not. Throws a NotFoundError if the environment has none.
 *
 * @example
 * const { version, state } = await deployments.retrieveLatest();
 */
export const retrieveLatest = async (): Promise<Deployment> =>
  fromWire(await currentClient().call('retrieveLatestDeployment'));
