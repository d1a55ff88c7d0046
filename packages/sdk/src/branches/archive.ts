import { currentClient } from '../client/current-client.ts';
import { projectOf, type OfBranches } from './branch.ts';
import { pause } from '../runs/pause.ts';

export interface ArchiveBranchOptions extends OfBranches {
  /** Default: preview. */
  env?: 'preview' | 'dev';
  /** Whether runs that have not ended are cancelled first. Default false: then a branch with such runs is not archived. */
  cancelRuns?: boolean;
}

/** Milliseconds between two looks whether live attempts have stopped. */
const pollMs = 500;

/**
 * Archives a branch: its runs cannot be seen any more, and its name is free again. With `cancelRuns` it resolves when its runs have ended
 * and it is archived; it may be called again after it was interrupted. Throws a NotFoundError if there is no such branch, a ConflictError if
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
