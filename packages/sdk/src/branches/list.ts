import { currentClient } from '../client/current-client.ts';
import { projectOf, type Branch, type OfBranches } from './branch.ts';

/**
 * The live branches of a project. With a key of the preview environment, the preview branches.
 *
 * @example
 * for (const { name, updatedAt } of await branches.list()) console.log(name, updatedAt);
 */
export async function list({ projectRef }: OfBranches = {}): Promise<Branch[]> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, projectRef) };
  const { branches } = await client.call('listBranches', { params });
  return branches.map(({ createdAt, updatedAt, ...branch }) => ({
    ...branch,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  }));
}
