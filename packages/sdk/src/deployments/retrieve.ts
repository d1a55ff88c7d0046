import { currentClient } from '../client/current-client.ts';
import {
  fromWire,
  versionOf,
  type Deployment,
  type DeploymentDetails,
  type DeploymentReference,
} from './deployment.ts';

/**
 * A deployment with its declared tasks, by version or id. Throws a NotFoundError for an unknown one.
 *
 * @example
 * const { state, liveRuns, declaredTasks } = await deployments.retrieve('20261121.3');
 * const schema = declaredTasks.find(({ id }) => id === 'send-mail')?.payloadSchema;
 */
export async function retrieve(deployment: DeploymentReference): Promise<DeploymentDetails> {
  const params = { version: versionOf(deployment) };
  const { declaredTasks, ...wire } = await currentClient().call('retrieveDeployment', { params });
  return { ...fromWire(wire), declaredTasks };
}

/**
 * The current deployment, on which new runs start. Throws a NotFoundError if the environment has none.
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
