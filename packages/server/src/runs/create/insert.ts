import type { Clock } from '../../db/clock.ts';
import type { Queryable } from '../../db/connect.ts';
import { newRuns } from './new-runs.ts';
import type { NewRun } from './row.ts';

export interface InsertedRow {
  /** Which of the runs it is about, counted from 1. */
  readonly ix: number;
  /** The run that the trigger leads to: the new one, or one that exists. Empty for a refused trigger. */
  readonly run_id: string;
  /** An idempotency key or a singleton key led to another run. */
  readonly cached: boolean;
  /** Of its lease. */
  readonly fence: string | null;
  readonly root_id: string | null;
  /** Why it was not created: because of its parent, or a limit (`exceededLimit`). */
  readonly refused: string | null;
}

interface InsertOptions {
  /**
   * Whether a request may have been sent before. With false, the statement fails (`runs_by_request`) where one was. Default true.
   */
  readonly findRequests?: boolean;
  /** Whether the caller counts what was created. By default the statement does, so that a transaction counts only what it commits. */
  readonly isCounted?: boolean;
}

/**
 * The general way to create runs: one statement for any number of them, alone or in a transaction of the caller's. It finds the run that each
 * trigger leads to, inserts the runs that are new, and puts them where they wait (`create_runs`).
 */
export async function insertRuns(
  { sql, clock }: { readonly sql: Queryable; readonly clock: Pick<Clock, 'now'> },
  runs: readonly NewRun[],
  { findRequests = true, isCounted = false }: InsertOptions = {},
): Promise<InsertedRow[]> {
  const mayExist = runs.some(
    (run) => mayLeadElsewhere(run) || (findRequests && run.requestKey !== undefined),
  );
  const rows = await sql<InsertedRow[]>`
    select * from create_runs(${new Date(clock.now())}::timestamptz, ${newRuns(sql, runs)}, ${mayExist}, ${!isCounted})`;
  const all = runs.map(inserted);
  for (const row of rows) all[row.ix - 1] = row;
  return all;
}

/** Whether it may lead to another run than its own, or to none. A parent whose root is known was looked up before. */
const mayLeadElsewhere = (run: NewRun): boolean =>
  run.idempotencyKey !== null ||
  (run.parentId !== null && run.rootId === null) ||
  run.debounce !== undefined ||
  run.singleton !== undefined ||
  run.collection !== undefined ||
  run.triggerLimit !== undefined;

/** The row of a run that was created and waits. `index` is its place among the runs of its statement, from 0. */
export const inserted = ({ id, rootId }: NewRun, index: number): InsertedRow => ({
  ix: index + 1,
  run_id: id,
  cached: false,
  fence: null,
  root_id: rootId,
  refused: null,
});
