import { branchName } from '../auth/branch.ts';
import { environmentOf } from '../auth/target.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { notFound, Problem } from '../problem.ts';
import { userIn, type BranchKind, type ChangedBranch } from './branches.ts';
import { archiveEnvironments } from './environments.ts';

export interface ArchiveBranchDependencies {
  readonly sql: Sql;
  /** How many runs of an environment have not ended. */
  readonly countLiveRuns: (env: number) => Promise<number>;
  /**
   * Cancels runs, for a few seconds at most; `record` is called in the transaction that cancels the first one. Resolves with the number of
   * canceled runs.
   */
  readonly cancelLiveRuns: (env: number, record: (tx: Transaction) => Promise<void>) => Promise<number>;
}

export interface ArchivedBranch extends ChangedBranch {
  /** False while awaited live attempts are stopping, in which case the call must be repeated. */
  readonly isArchived: boolean;
  readonly canceled: number;
  readonly liveRuns: number;
}

/**
 * Archives a branch, so that no key or token can access it any longer. Its data remains until it is pruned. Its unfinished runs are
 * canceled. If `cancelRuns` is false, the call is rejected instead; if true, the branch is archived only after they have ended.
 */
export async function archiveBranch(
  { sql, countLiveRuns, cancelLiveRuns }: ArchiveBranchDependencies,
  ref: string,
  request: { readonly branch: string; readonly env: BranchKind; readonly cancelRuns?: boolean | undefined },
  by: Actor,
): Promise<ArchivedBranch> {
  const branch = branchName(request.branch);
  const found =
    branch === undefined
      ? undefined
      : await environmentOf(sql, userIn(by.principal), ref, request.env, branch);
  if (!found) throw notFound('Branch not found', false, 'branch_not_found');
  const { id, publicId } = found;
  const here = { target: publicId, in: { projectRef: ref, environment: request.env } };
  let liveRuns = await countLiveRuns(id);
  let canceled = 0;
  if (liveRuns > 0) {
    if (request.cancelRuns === false) throw hasRuns(request.branch, liveRuns);
    const old = { branch, runs: liveRuns };
    canceled = await cancelLiveRuns(id, (tx) =>
      recordAct(tx, by, { ...here, act: 'branch.runsCanceled', old }),
    );
    liveRuns = await countLiveRuns(id);
  }
  return sql.begin(async (tx) => {
    // Locked, so that only one of two concurrent requests archives it.
    const [live] = await tx<{ parent: number }[]>`
      select parent_id as parent from environments where id = ${id} and archived_at is null for update`;
    if (!live) throw notFound('Branch not found', false, 'branch_not_found');
    const { parent } = live;
    if (liveRuns > 0 && request.cancelRuns)
      return { id: publicId, parent, isArchived: false, canceled, liveRuns };
    // A run that is triggered at this moment stays in it and does not start.
    await archiveEnvironments(tx, tx`e.id = ${id} and e.archived_at is null`, { deleted: false });
    await recordAct(tx, by, { ...here, act: 'branch.archived', old: { branch } });
    return { id: publicId, parent, isArchived: true, canceled, liveRuns };
  });
}

const hasRuns = (branch: string, liveRuns: number): Problem =>
  new Problem(
    'branch_has_runs',
    `${branch} has ${liveRuns === 1 ? '1 run that has' : `${liveRuns} runs that have`} not ended. Send cancelRuns: true to cancel them, or wait for them.`,
    { code: 'branch_has_runs', liveRuns },
    false,
  );
