import { addressed } from '../envvars/address.ts';
import { fromWire, type Alert, type UpdateAlertOptions } from './alert.ts';

/**
 * Changes the given settings of an alert, or turns it off and on. Throws a NotFoundError if the environment has no such alert, and a
 * BadRequestError for a setting that its kind does not have.
 *
 * @example
 * await alerts.update('alert_…', { threshold: 20, quiet: '1h' });
 * await alerts.update('alert_…', { enabled: false });
 */
export function update(
  projectRef: string,
  env: string,
  alertId: string,
  changes: UpdateAlertOptions,
): Promise<Alert>;
export function update(alertId: string, changes: UpdateAlertOptions): Promise<Alert>;
export async function update(...args: readonly (string | UpdateAlertOptions)[]): Promise<Alert> {
  const { client, params, rest } = await addressed<[string, UpdateAlertOptions]>(args, 2);
  const [alertId, body] = rest;
  return fromWire(await client.call('updateAlert', { params: { ...params, alertId }, body }));
}
