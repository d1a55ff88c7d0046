import { addressed } from './address.ts';

/**
 * All variables of the environment that the secret key is for with their values, secret ones too: for programs that run in it.
 * Personal access tokens may not.
 *
 * @example
 * Object.assign(process.env, await envvars.readAll());
 */
export async function readAll(): Promise<Record<string, string>> {
  const { client, params } = await addressed([], 0);
  const { projectRef } = params;
  return (await client.call('readVariables', { params: { projectRef } })).variables;
}
