import { addressed } from './address.ts';
import { areTexts, expected } from './expected.ts';

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
  const reply = await client.call('readVariables', { params: { projectRef } });
  return expected(reply, areTexts, 'variables').variables;
}
