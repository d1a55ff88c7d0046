import { addressed } from './address.ts';
import { areNamed, expected } from './expected.ts';
import type { EnvironmentVariable } from './variable.ts';

/**
 * The variables of an environment, by name; for a preview branch, including those of its parent. Secret values are `<redacted>`. Without
 * arguments: of the environment of the secret key. Throws a NotFoundError for a project or environment that does not exist or is not
 * accessible, and a BadRequestError if the key belongs to another environment.
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
export async function list(...args: readonly string[]): Promise<EnvironmentVariable[]> {
  const { client, params } = await addressed(args, 0);
  return expected(await client.call('listVariables', { params: { ...params } }), areNamed);
}
