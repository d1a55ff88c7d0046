import { addressed } from './address.ts';
import type { Success, UploadVariables } from './variable.ts';

/**
 * Sets many variables at once, all or none. Blank ones and reserved names are skipped. Throws a BadRequestError when a variable exists and
 * `override` is not set, or when one is invalid; its `body.variableErrors` lists each (`{ key, error }`).
 *
 * @example
 * await envvars.upload({ variables: { A: '1', B: '2' }, override: true });
 *
 * @example
 * await envvars.upload('proj_…', 'prod', { variables: { A: '1' } });
 */
export function upload(projectRef: string, env: string, variables: UploadVariables): Promise<Success>;
export function upload(variables: UploadVariables): Promise<Success>;
export async function upload(...args: readonly (string | UploadVariables)[]): Promise<Success> {
  const { client, params, rest } = await addressed<[UploadVariables]>(args, 1);
  return client.call('importVariables', { params: { ...params }, body: rest[0] });
}
