import { addressed } from './address.ts';
import type { Success } from './variable.ts';

/**
 * Deletes a variable's value in an environment. On a preview branch, the parent's value applies again. Throws a NotFoundError when there is no
 * such value.
 *
 * @example
 * await envvars.del('LOG_LEVEL');
 *
 * @example
 * await envvars.del('proj_…', 'prod', 'LOG_LEVEL');
 */
export function del(projectRef: string, env: string, name: string): Promise<Success>;
export function del(name: string): Promise<Success>;
export async function del(...args: readonly string[]): Promise<Success> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return client.call('deleteVariable', { params: { ...params, name: rest[0] } });
}
