import { addressed } from './address.ts';
import { areNamed, expected } from './expected.ts';
import type { EnvironmentVariable } from './variable.ts';

/**
 * The variables of an environment, by name; of a preview branch with those of its parent. Secret values are `<redacted>`.
 * Without arguments: of the environment that the secret key is for. Throws a NotFoundError for a project or an environment that is
 * not there or not the caller's, a BadRequestError when the key is one of another environment.
 *
 * @example
 * for (const { name, value } of await envvars.list()) console.log(name, value);
 *
 * @example
 * // With a personal access token:
 * await envvars.list('proj_…', 'prod');
 */
export function list(projectRef: string, env: string): Promise<EnvironmentVariable[]>;
export function list(): Promise<EnvironmentVariable[]>;
export async function list(...given: readonly string[]): Promise<EnvironmentVariable[]> {
  const { client, params } = await addressed(given, 0);
  return expected(await client.call('listVariables', { params: { ...params } }), areNamed);
}
