import { addressed } from './address.ts';
import { areTexts, expected } from './expected.ts';

/**
 * All variables of the secret key's environment with their values, including secret ones, for programs that run in it. Personal access tokens
 * are rejected.
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
