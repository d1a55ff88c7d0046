import { currentClient } from '../client/current-client.ts';
import { projectOf, type OfBranches } from './branch.ts';

export interface CreateBranchOptions extends OfBranches {
  /** Default: preview. */
  env?: 'preview' | 'dev';
  /** What is known of the commit, at most 16 KiB of JSON. */
  git?: Record<string, unknown>;
  /** Whether schedules that tasks declare fire in this branch of preview. Default: as it is, for a new one false. */
  schedules?: boolean;
}

/**
 * Makes a branch unless it is there, and changes what is given. Throws a BadRequestError for a name that git would not take.
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
