import type { TaskDetail as WireDetail, TaskInfo } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

export type { TaskInfo } from '@millrace/contract';

type WireRun = WireDetail['lastRuns'][number];

/** A task of the current version, with statistics about its latest runs. */
export type TaskDetail = Omit<WireDetail, 'recent' | 'lastRuns'> & {
  /** Covers at most 100 runs, regardless of their age. */
  readonly recent: Omit<WireDetail['recent'], 'from'> & { readonly from: Date | null };
  /** Newest first; at most ten. */
  readonly lastRuns: readonly (Omit<WireRun, 'createdAt' | 'finishedAt'> & {
    readonly createdAt: Date;
    readonly finishedAt?: Date | undefined;
  })[];
};

/**
 * The tasks of the current version by id, with the default options of their runs.
 *
 * @example
 * for (const { id, queue } of await tasks.list()) console.log(id, queue.name);
 */
export async function list(): Promise<TaskInfo[]> {
  return (await currentClient().call('listTasks')).data;
}

/**
 * A task of the current version, with statistics about its latest runs. Throws a NotFoundError if that version does not have it.
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
