import { addressed } from './address.ts';
import type { EnvironmentVariable } from './variable.ts';

/**
 * One variable; a secret value is `<redacted>`. Throws a NotFoundError when the environment has no variable of this name.
 *
 * @example
 * const { value } = await envvars.retrieve('LOG_LEVEL');
 *
 * @example
 * await envvars.retrieve('proj_…', 'prod', 'LOG_LEVEL');
 */
export function retrieve(projectRef: string, env: string, name: string): Promise<EnvironmentVariable>;
export function retrieve(name: string): Promise<EnvironmentVariable>;
export async function retrieve(...args: readonly string[]): Promise<EnvironmentVariable> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return client.call('retrieveVariable', { params: { ...params, name: rest[0] } });
}
