import type { movableStatuses } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { versionOf, type DeploymentReference } from './deployment.ts';

/**
 * The statuses of runs that can be moved. `RETRYING`: between two attempts. `WAITING`: at a wait in its code, after its runner has released
 * it.
 */
export type MovableStatus = (typeof movableStatuses)[number];

/** The runs to move. */
export interface MoveOptions {
  /** Whether to move nothing and only return the runs that would be moved. Default false. */
  dryRun?: boolean;
  /** Only runs of these tasks. */
  task?: string | readonly string[];
  /** Only runs with these statuses. */
  status?: MovableStatus | readonly MovableStatus[];
}

/** The waiting runs, and the number moved. */
export interface Moved {
  from: string;
  to: string;
  /** The runs that were waiting when the call began. */
  waiting: { task: string; status: MovableStatus; count: number }[];
  /** Tasks among them that the target version lacks. If there are any, nothing is moved. */
  missingTasks: string[];
  /** Live attempts of the version. They are not moved. */
  staying: number;
  /** How many runs were moved. */
  moved: number;
  /** False for a dry run, and if some runs were locked for too long to be moved: call it again. */
  isComplete: boolean;
}

/**
 * Binds the waiting runs of a deployment to another one: queued, delayed, waiting and between two attempts. Live attempts are not moved. Throws
 * a NotFoundError for an unknown deployment, and a ConflictError if the other one is not ready or lacks a task, which it names. An interrupted
 * call may be repeated.
 *
 * @example
 * const { waiting } = await deployments.move('20261120.1', '20261121.3', { dryRun: true });
 * await deployments.move('20261120.1', '20261121.3');
 */
export async function move(
  from: DeploymentReference,
  to: DeploymentReference,
  { dryRun, task, status }: MoveOptions = {},
): Promise<Moved> {
  const client = currentClient();
  const params = { version: versionOf(from) };
  const body = { to: versionOf(to), dryRun, task: listOf(task), status: listOf(status) };
  // A call returns after some seconds, even if more runs remain.
  const first = await client.call('moveDeployment', { params, body });
  let { moved, isComplete } = first;
  for (let last = moved; !dryRun && !isComplete && last > 0; moved += last) {
    const next = await client.call('moveDeployment', { params, body });
    ({ moved: last, isComplete } = next);
  }
  return { ...first, moved, isComplete };
}

const listOf = <T>(value: T | readonly T[] | undefined): T[] | undefined =>
  value === undefined ? undefined : ([value].flat() as T[]);
