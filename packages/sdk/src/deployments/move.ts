import type { movableStatuses } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { versionOf, type DeploymentReference } from './deployment.ts';

/**
 * How a run waits that can be moved. `RETRYING`: between two attempts. `WAITING`: within its code, after the runner that held it has gone.
 */
export type MovableStatus = (typeof movableStatuses)[number];

/** Which runs are moved. */
export interface MoveOptions {
  /** Whether nothing is moved: the result says what would be. Default false. */
  dryRun?: boolean;
  /** Only runs of these tasks. */
  task?: string | readonly string[];
  /** Only runs that wait like this. */
  status?: MovableStatus | readonly MovableStatus[];
}

/** What waited, and what was moved. */
export interface Moved {
  from: string;
  to: string;
  /** What waited when the call began. */
  waiting: { task: string; status: MovableStatus; count: number }[];
  /** Tasks among them that the other version lacks. With one of these nothing is moved. */
  missingTasks: string[];
  /** Attempts of the version that are alive. They stay. */
  staying: number;
  /** How many runs were moved. */
  moved: number;
  /** False for a dry run, and if rows were locked for so long that some runs were left: call it again. */
  isComplete: boolean;
}

/**
 * Binds the waiting runs of a deployment to another one: queued, delayed, waiting and between two attempts. Attempts that are alive stay.
 * Throws a NotFoundError for an unknown deployment, a ConflictError if the other one is not ready or lacks a task, which it names. It may be
 * called again after it was interrupted.
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
  // A call replies after some seconds, whether or not all is moved.
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
