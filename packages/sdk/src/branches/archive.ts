import { currentClient } from '../client/current-client.ts';
import { projectOf, type OfBranches } from './branch.ts';
import { pause } from '../runs/pause.ts';

export interface ArchiveBranchOptions extends OfBranches {
  /** Default: preview. */
  env?: 'preview' | 'dev';
  /** Whether to cancel unfinished runs first. Default false, in which case a branch with unfinished runs is not archived. */
  cancelRuns?: boolean;
}

/** Milliseconds between two checks for live attempts. */
const pollMs = 500;

/**
 * Archives a branch: its runs are no longer visible, and its name can be reused. With `cancelRuns` it resolves once the runs have ended and
 * the branch is archived; an interrupted call may be repeated. Throws a NotFoundError if there is no such branch, and a ConflictError if
 * runs have not ended and `cancelRuns` is not set.
 *
 * @example
 * const { canceled } = await branches.archive('feat/login', { cancelRuns: true });
 */
export async function archive(
  branch: string,
  { projectRef, env, cancelRuns = false }: ArchiveBranchOptions = {},
): Promise<{ id: string; canceled: number }> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, projectRef) };
  let canceled = 0;
  for (;;) {
    const reply = await client.call('archiveBranch', { params, body: { branch, env, cancelRuns } });
    canceled += reply.canceled;
    if (reply.isArchived) return { id: reply.id, canceled };
    await pause(pollMs);
  }
}
