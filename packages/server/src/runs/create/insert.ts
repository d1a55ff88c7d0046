import type { Clock } from '../../db/clock.ts';
import type { Queryable } from '../../db/connect.ts';
import { newRuns } from './new-runs.ts';
import { inserted, type InsertedRow, type NewRun } from './row.ts';

interface InsertOptions {
  /** Whether a request may have been sent before. If false, the statement fails (`runs_by_request`) when one was. Default true. */
  readonly findRequests?: boolean;
  /** Whether the caller counts the created runs. By default the statement does, so that a transaction counts only runs that it commits. */
  readonly isCounted?: boolean;
}

/**
 * The general path for creating runs: one statement for any number of runs, in its own transaction or in the caller's. It resolves each
 * trigger to a run, inserts the new runs, and puts them where they wait (`create_runs`). Returns the outcomes in the order of the runs.
 */
export async function insertRuns(
  { sql, clock }: { readonly sql: Queryable; readonly clock: Pick<Clock, 'now'> },
  runs: readonly NewRun[],
  { findRequests = true, isCounted = false }: InsertOptions = {},
): Promise<InsertedRow[]> {
  const mayExist = runs.some(
    (run) => mayLeadElsewhere(run) || (findRequests && run.requestKey !== undefined),
  );
  const rows = await sql<(InsertedRow & { readonly ix: number })[]>`
    select * from create_runs(${new Date(clock.now())}::timestamptz, ${newRuns(sql, runs)}, ${mayExist}, ${!isCounted})`;
  const all = runs.map(inserted);
  for (const { ix, ...row } of rows) all[ix - 1] = row;
  return all;
}

/** Whether the trigger may resolve to a run other than its own, or to none. A parent whose root is known has already been looked up. */
const mayLeadElsewhere = (run: NewRun): boolean =>
  run.idempotencyKey !== null ||
  (run.parentId !== null && run.rootId === null) ||
  run.debounce !== undefined ||
  run.singleton !== undefined ||
  run.collection !== undefined ||
  run.triggerLimit !== undefined;
