import { currentClient } from '../client/current-client.ts';
import { projectOf, type OfBranches } from './branch.ts';

export interface CreateBranchOptions extends OfBranches {
  /** Default: preview. */
  env?: 'preview' | 'dev';
  /** Git metadata of the commit, at most 16 KiB of JSON. */
  git?: Record<string, unknown>;
  /** Whether declared schedules fire in this preview branch. Default: unchanged, or false for a new branch. */
  schedules?: boolean;
}

/**
 * Creates a branch if it does not exist and updates the given settings otherwise. Throws a BadRequestError for a name that git does not
 * accept.
 *
 * @example
 * await branches.create('feat/login');
 *
 * @example
 * // Its declared schedules fire from now on:
 * await branches.create('feat/login', { schedules: true });
 */
export async function create(
  branch: string,
  { projectRef, env, git, schedules }: CreateBranchOptions = {},
): Promise<{ id: string; schedules: boolean }> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, projectRef) };
  return client.call('createBranch', { params, body: { branch, env, git, schedules } });
}
