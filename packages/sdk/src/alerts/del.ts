import { addressed } from '../envvars/address.ts';

/**
 * Deletes an alert. Nobody is told of its end if it fires. Throws a NotFoundError if the environment has no such alert.
 *
 * @example
 * await alerts.del('alert_…');
 */
export function del(projectRef: string, env: string, alertId: string): Promise<{ id: string }>;
export function del(alertId: string): Promise<{ id: string }>;
export async function del(...given: readonly string[]): Promise<{ id: string }> {
  const { client, params, rest } = await addressed<[string]>(given, 1);
  return client.call('deleteAlert', { params: { ...params, alertId: rest[0] } });
}
