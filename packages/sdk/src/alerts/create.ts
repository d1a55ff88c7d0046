import { addressed } from '../envvars/address.ts';
import { fromWire, type Alert, type CreateAlertOptions } from './alert.ts';

/**
 * Creates an alert: its condition is checked every few seconds, and endpoints are notified when it starts and stops holding. Without a project
 * and an environment, applies to the environment of the secret key. Throws a BadRequestError for a setting that this kind of alert does not
 * have, and an UnprocessableEntityError beyond 50 alerts or for an unknown endpoint.
 *
 * @example
 * await alerts.create({ kind: 'error.new', quiet: '15m' });
 *
 * @example
 * await alerts.create('proj_…', 'prod', { kind: 'task.failureRate', task: 'charge', threshold: 5, window: '10m' });
 */
export function create(projectRef: string, env: string, alert: CreateAlertOptions): Promise<Alert>;
export function create(alert: CreateAlertOptions): Promise<Alert>;
export async function create(...args: readonly (string | CreateAlertOptions)[]): Promise<Alert> {
  const { client, params, rest } = await addressed<[CreateAlertOptions]>(args, 1);
  return fromWire(await client.call('createAlert', { params: { ...params }, body: rest[0] }));
}
