import { addressed } from './address.ts';
import type { Success } from './variable.ts';

/**
 * Gives a variable that the project has in some environment a value in this one. A secret one stays secret. Throws a NotFoundError
 * when the project has none of this name.
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
export async function update(...given: readonly (string | { value: string })[]): Promise<Success> {
  const { client, params, rest } = await addressed<[string, { value: string }]>(given, 2);
  return client.call('updateVariable', { params: { ...params, name: rest[0] }, body: rest[1] });
}
