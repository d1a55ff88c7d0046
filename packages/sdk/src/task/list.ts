import type { TaskDetail as WireDetail, TaskInfo } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

export type { TaskInfo } from '@millrace/contract';

type WireRun = WireDetail['lastRuns'][number];

/** A task of the current version, with what its latest runs were like. */
export type TaskDetail = Omit<WireDetail, 'recent' | 'lastRuns'> & {
  /** Of at most 100 runs, whenever they were created. */
  readonly recent: Omit<WireDetail['recent'], 'from'> & { readonly from: Date | null };
  /** The newest first; at most ten. */
  readonly lastRuns: readonly (Omit<WireRun, 'createdAt' | 'finishedAt'> & {
    readonly createdAt: Date;
    readonly finishedAt?: Date | undefined;
  })[];
};

/**
 * The tasks of the current version by id, with what their runs get if their trigger does not say otherwise.
 *
 * @example
 * for (const { id, queue } of await tasks.list()) console.log(id, queue.name);
 */
export async function list(): Promise<TaskInfo[]> {
  return (await currentClient().call('listTasks')).data;
}

/**
 * A task of the current version, with what its latest runs were like. Throws a NotFoundError if that version does not have it.
 *
 * @example
 * const { recent } = await tasks.retrieve('send-email');
 * console.log(recent.successRate, recent.p95Ms);
 */
export async function retrieve(taskId: string): Promise<TaskDetail> {
  const { recent, lastRuns, ...info } = await currentClient().call('retrieveTask', { params: { taskId } });
  return {
    ...info,
    recent: { ...recent, from: recent.from === null ? null : new Date(recent.from) },
    lastRuns: lastRuns.map(({ createdAt, finishedAt, ...run }) => ({
      ...run,
      createdAt: new Date(createdAt),
      ...(finishedAt !== undefined && { finishedAt: new Date(finishedAt) }),
    })),
  };
}
