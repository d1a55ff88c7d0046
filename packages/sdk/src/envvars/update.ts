import { addressed } from './address.ts';
import type { Success } from './variable.ts';

/**
 * Sets the value in this environment of a variable that exists in any environment of the project. A secret variable stays secret. Throws a
 * NotFoundError when the project has no variable of this name.
 *
 * @example
 * await envvars.update('LOG_LEVEL', { value: 'info' });
 *
 * @example
 * await envvars.update('proj_…', 'prod', 'LOG_LEVEL', { value: 'info' });
 */
export function update(
  projectRef: string,
  env: string,
  name: string,
  variable: { value: string },
): Promise<Success>;
export function update(name: string, variable: { value: string }): Promise<Success>;
export async function update(...args: readonly (string | { value: string })[]): Promise<Success> {
  const { client, params, rest } = await addressed<[string, { value: string }]>(args, 2);
  return client.call('updateVariable', { params: { ...params, name: rest[0] }, body: rest[1] });
}
