import type { BatchItem } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { Problem } from '../problem.ts';
import { prepareRun } from '../runs/prepare.ts';
import type { Parent } from '../runs/parent.ts';
import type { NewRun } from '../runs/row.ts';
import type { Batches, BatchRow } from './batch.ts';
import { itemRunId } from './ids.ts';

/** The run of an item: what a trigger would make, with the id of its place. A refusal says which item it is about. */
export function prepareItem(
  { engine, redact }: Pick<Batches, 'engine' | 'redact'>,
  environment: Environment,
  batch: BatchRow,
  parent: Parent | undefined,
  { index, task, payload, options }: BatchItem,
): NewRun | Promise<NewRun> {
  const held = (run: NewRun): NewRun | Promise<NewRun> => {
    const own: NewRun = {
      ...run,
      batch: batch.id,
      // One turn for all of one priority, so that the order of their ids, which is that of the items, decides.
      ord: (run.due ?? batch.created_at).getTime() - run.priorityMs,
      ...(parent && { parentId: parent.id, rootId: parent.root, depth: parent.depth }),
    };
    return own.metadata === null ? own : redact(own);
  };
  try {
    const runId = itemRunId(batch.id, index);
    const run = prepareRun(engine, environment, task, { payload, options }, { runId });
    return run instanceof Promise
      ? run.then(held, (error: unknown) => {
          throw ofItem(error, index);
        })
      : held(run);
  } catch (error) {
    throw ofItem(error, index);
  }
}

const ofItem = (error: unknown, index: number): unknown =>
  error instanceof Problem && error.status < 500
    ? new Problem(
        error.status === 400 ? 422 : error.status,
        `Invalid item at index ${index}: ${error.message}`,
      )
    : error;
