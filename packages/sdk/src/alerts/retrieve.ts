import { addressed } from '../envvars/address.ts';
import { fromWire, type AlertDetail } from './alert.ts';

/**
 * An alert with the subjects for which its condition currently holds. Throws a NotFoundError if the environment has no such alert.
 *
 * @example
 * for (const { subject, value } of (await alerts.retrieve('alert_…')).subjects) console.log(subject, value);
 */
export function retrieve(projectRef: string, env: string, alertId: string): Promise<AlertDetail>;
export function retrieve(alertId: string): Promise<AlertDetail>;
export async function retrieve(...args: readonly string[]): Promise<AlertDetail> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  const wire = await client.call('retrieveAlert', { params: { ...params, alertId: rest[0] } });
  const subjects = wire.subjects.map((each) => ({ ...each, since: new Date(each.since) }));
  return { ...fromWire(wire), subjects };
}
