import type { Clock } from '../../db/clock.ts';
import type { Queryable } from '../../db/connect.ts';
import { newRuns } from './new-runs.ts';
import { inserted, type InsertedRow, type NewRun } from './row.ts';

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
