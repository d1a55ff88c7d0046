import type { BatchItem } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { asProblem, Problem, unprocessable } from '../problem.ts';
import { prepareRun } from '../runs/create/prepare.ts';
import type { Parent } from '../runs/create/parent.ts';
import { redactMetadata } from '../runs/create/redact-metadata.ts';
import type { NewRun } from '../runs/create/row.ts';
import type { Batches, BatchRow } from './batch.ts';
import { itemRunId } from './ids.ts';

/** The run of an item: like that of a trigger, but with the id for its index. A rejection names the item. */
export function prepareItem(
  batches: Pick<Batches, 'engine' | 'redactor'>,
  environment: Environment,
  batch: BatchRow,
  parent: Parent | undefined,
  item: BatchItem,
): NewRun | Promise<NewRun> {
  const complete = (run: NewRun): NewRun => completeItem(run, batch, parent, item.index);
  const run = readItem(batches, environment, item);
  return run instanceof Promise ? run.then(complete) : complete(run);
}

/** The part of preparation that does not depend on the batch. Only this part may query the database. */
export function readItem(
  { engine, redactor }: Pick<Batches, 'engine' | 'redactor'>,
  environment: Environment,
  { index, task, payload, options }: BatchItem,
): NewRun | Promise<NewRun> {
  const redacted = (run: NewRun): NewRun | Promise<NewRun> => {
    if (run.collection)
      throw unprocessable(
        `the task "${task}" collects single triggers in batches of its own; use trigger, not batchTrigger.`,
      );
    return redactMetadata(redactor, run);
  };
  try {
    // The id is derived from the batch.
    const run = prepareRun(engine, environment, task, { payload, options }, { runId: '' });
    return run instanceof Promise
      ? run.then(redacted).catch((error: unknown) => {
          throw ofItem(error, index);
        })
      : redacted(run);
  } catch (error) {
    throw ofItem(error, index);
  }
}

/** Adds the data derived from the batch and its parent. */
export const completeItem = (
  run: NewRun,
  batch: BatchRow,
  parent: Parent | undefined,
  index: number,
): NewRun => ({
  ...run,
  id: itemRunId(batch.id, index),
  batch: batch.id,
  // Equal for all items with the same priority, which are then ordered by id, that is, in item order.
  sortKey: (run.due ?? batch.created_at).getTime() - run.priorityMs,
  ...(parent && { parentId: parent.id, rootId: parent.root, depth: parent.depth }),
});

function ofItem(error: unknown, index: number): unknown {
  const problem = asProblem(error);
  if (problem === undefined || problem.status >= 500) return error;
  const message = `Invalid item at index ${index}: ${problem.message}`;
  if (problem.status === 400) return unprocessable(message);
  return new Problem(problem.code, message, {}, undefined, problem.status);
}
