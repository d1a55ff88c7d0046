import { addressed } from './address.ts';
import type { CreateVariable, Success } from './variable.ts';

/**
 * Sets a variable, whether or not it exists. Runs that start afterwards have it. Throws a BadRequestError for an invalid name or value.
 *
 * @example
 * await envvars.create({ name: 'STRIPE_KEY', value: key, isSecret: true });
 *
 * @example
 * await envvars.create('proj_…', 'prod', { name: 'LOG_LEVEL', value: 'debug' });
 */
export function create(projectRef: string, env: string, variable: CreateVariable): Promise<Success>;
export function create(variable: CreateVariable): Promise<Success>;
export async function create(...args: readonly (string | CreateVariable)[]): Promise<Success> {
  const { client, params, rest } = await addressed<[CreateVariable]>(args, 1);
  return client.call('createVariable', { params: { ...params }, body: rest[0] });
}
