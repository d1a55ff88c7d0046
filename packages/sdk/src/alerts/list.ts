import { addressed } from '../envvars/address.ts';
import { fromWire, type Alert } from './alert.ts';

/**
 * The alerts of an environment, oldest first.
 *
 * @example
 * const firing = (await alerts.list()).filter(({ state }) => state === 'FIRING');
 */
export function list(projectRef: string, env: string): Promise<Alert[]>;
export function list(): Promise<Alert[]>;
export async function list(...args: readonly string[]): Promise<Alert[]> {
  const { client, params } = await addressed(args, 0);
  const { data } = await client.call('listAlerts', { params: { ...params } });
  return data.map(fromWire);
}
