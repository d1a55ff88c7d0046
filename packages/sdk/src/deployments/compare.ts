import type { Comparison as WireComparison } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { fromWire, versionOf, type Deployment, type DeploymentReference } from './deployment.ts';

/** A task of one or both versions: its changed options, and the runs that ended on each version. */
export type ComparedTask = WireComparison['tasks'][number];

/** Two versions, the older one first: their tasks, the deployments between them, and the page of their commits. */
export type DeploymentComparison = Omit<WireComparison, 'before' | 'after' | 'deployments'> & {
  before: Deployment;
  after: Deployment;
  /** The deployments after the older version, up to and including the newer one, newest first. */
  deployments: Deployment[];
};

/**
 * Compares two deployments: added, removed and changed tasks with their options, commits, and the failure rate and duration of each task on
 * both. By default, compares a deployment with the one that was current before it, or a canary with the current one. Throws a NotFoundError for
 * an unknown deployment, and an UnprocessableEntityError for a deployment with itself, or if there is none before it.
 *
 * @example
 * const { before, after, tasks, commitsUrl } = await deployments.compare('20261121.3');
 * for (const task of tasks) console.log(task.id, task.change, task.before?.failureRate, task.after?.failureRate);
 */
export async function compare(
  deployment: DeploymentReference,
  other?: DeploymentReference,
): Promise<DeploymentComparison> {
  const wire = await currentClient().call('compareDeployments', {
    params: { version: versionOf(deployment) },
    query: { with: other === undefined ? undefined : versionOf(other) },
  });
  return {
    ...wire,
    before: fromWire(wire.before),
    after: fromWire(wire.after),
    deployments: wire.deployments.map(fromWire),
  };
}
