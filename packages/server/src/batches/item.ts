import type { BatchItem } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { asProblem, Problem } from '../problem.ts';
import { prepareRun } from '../runs/create/prepare.ts';
import type { Parent } from '../runs/create/parent.ts';
import type { NewRun } from '../runs/create/row.ts';
import type { Batches, BatchRow } from './batch.ts';
import { itemRunId } from './ids.ts';

/** The run of an item: what a trigger would make, with the id of its place. A refusal says which item it is about. */
export function prepareItem(
  batches: Pick<Batches, 'engine' | 'redact'>,
  environment: Environment,
  batch: BatchRow,
  parent: Parent | undefined,
  item: BatchItem,
): NewRun | Promise<NewRun> {
  const placed = (run: NewRun): NewRun => placeItem(run, batch, parent, item.index);
  const run = readItem(batches, environment, item);
  return run instanceof Promise ? run.then(placed) : placed(run);
}

/** What of it can be had without its batch: all that asks the database. */
export function readItem(
  { engine, redact }: Pick<Batches, 'engine' | 'redact'>,
  environment: Environment,
  { index, task, payload, options }: BatchItem,
): NewRun | Promise<NewRun> {
  const redacted = (run: NewRun): NewRun | Promise<NewRun> => (run.metadata === null ? run : redact(run));
  try {
    // Its id is that of its place, which only its batch knows.
    const run = prepareRun(engine, environment, task, { payload, options }, { runId: '' });
    return run instanceof Promise
      ? run.then(redacted, (error: unknown) => {
          throw ofItem(error, index);
        })
      : redacted(run);
  } catch (error) {
    throw ofItem(error, index);
  }
}

export const placeItem = (
  run: NewRun,
  batch: BatchRow,
  parent: Parent | undefined,
  index: number,
): NewRun => ({
  ...run,
  id: itemRunId(batch.id, index),
  batch: batch.id,
  // One turn for all of one priority, so that the order of their ids, which is that of the items, decides.
  ord: (run.due ?? batch.created_at).getTime() - run.priorityMs,
  ...(parent && { parentId: parent.id, rootId: parent.root, depth: parent.depth }),
});

function ofItem(error: unknown, index: number): unknown {
  const problem = asProblem(error);
  if (problem === undefined || problem.status >= 500) return error;
  const status = problem.status === 400 ? 422 : problem.status;
  return new Problem(status, `Invalid item at index ${index}: ${problem.message}`);
}
