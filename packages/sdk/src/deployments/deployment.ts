import type { Deployment as WireDeployment, DeploymentDetails as WireDetails } from '@millrace/contract';

/** A deployed version: its contents, its state, and its number of runners and live runs. */
export type Deployment = Omit<WireDeployment, 'createdAt' | 'deployedAt'> & {
  createdAt: Date;
  /** When it first became current. */
  deployedAt?: Date;
};

/** A task that a version declares, with the JSON Schema of its payload if its schema library can produce one. */
export type DeployedTask = WireDetails['declaredTasks'][number];

/** A deployment with the tasks that it declares, by id. */
export type DeploymentDetails = Deployment & { declaredTasks: DeployedTask[] };

/** A deployment by its version (`20261121.3`), its id (`deployment_…`), or the deployment itself. */
export type DeploymentReference = string | { readonly version: string };

export const fromWire = ({ createdAt, deployedAt, ...same }: WireDeployment): Deployment => ({
  ...same,
  createdAt: new Date(createdAt),
  ...(deployedAt !== undefined && { deployedAt: new Date(deployedAt) }),
});

/** Validates input from untyped callers. */
export function versionOf(deployment: DeploymentReference): string {
  const version: unknown =
    typeof deployment === 'string' ? deployment : (deployment as { version?: unknown } | undefined)?.version;
  if (typeof version === 'string' && version !== '') return version;
  throw new TypeError('Pass the version (20261121.3), the id (deployment_…) or the deployment itself.');
}
