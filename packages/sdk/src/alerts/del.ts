import { addressed } from '../envvars/address.ts';

/**
 * Deletes an alert. If it is firing, no message about its end is sent. Throws a NotFoundError if the environment has no such alert.
 *
 * @example
 * await alerts.del('alert_…');
 */
export function del(projectRef: string, env: string, alertId: string): Promise<{ id: string }>;
export function del(alertId: string): Promise<{ id: string }>;
export async function del(...args: readonly string[]): Promise<{ id: string }> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return client.call('deleteAlert', { params: { ...params, alertId: rest[0] } });
}
