import { addressed } from '../envvars/address.ts';
import {
  deliveryFromWire,
  endpointFromWire,
  type CreateEndpointOptions,
  type NotificationDelivery,
  type NotificationEndpoint,
  type UpdateEndpointOptions,
} from './endpoint.ts';

/**
 * Creates an endpoint that receives notifications of an environment: a webhook, a chat or email. Only a webhook has a `secret`, which signs its
 * requests; it is returned only once, here. Throws an UnprocessableEntityError for an address that is not allowed.
 *
 * @example
 * const { secret } = await notifications.createEndpoint({ url: 'https://example.com/hook', types: ['run.failed'] });
 *
 * @example
 * await notifications.createEndpoint({ kind: 'slack', url: process.env.SLACK_WEBHOOK_URL });
 */
export function createEndpoint(
  projectRef: string,
  env: string,
  endpoint: CreateEndpointOptions,
): Promise<NotificationEndpoint & { secret?: string | undefined }>;
export function createEndpoint(
  endpoint: CreateEndpointOptions,
): Promise<NotificationEndpoint & { secret?: string | undefined }>;
export async function createEndpoint(
  ...args: readonly (string | CreateEndpointOptions)[]
): Promise<NotificationEndpoint & { secret?: string | undefined }> {
  const { client, params, rest } = await addressed<[CreateEndpointOptions]>(args, 1);
  return endpointFromWire(
    await client.call('createNotificationEndpoint', { params: { ...params }, body: rest[0] }),
  );
}

/**
 * The endpoints of an environment, oldest first.
 *
 * @example
 * const failing = (await notifications.listEndpoints()).filter(({ failingSince }) => failingSince !== null);
 */
export function listEndpoints(projectRef: string, env: string): Promise<NotificationEndpoint[]>;
export function listEndpoints(): Promise<NotificationEndpoint[]>;
export async function listEndpoints(...args: readonly string[]): Promise<NotificationEndpoint[]> {
  const { client, params } = await addressed(args, 0);
  const { data } = await client.call('listNotificationEndpoints', { params: { ...params } });
  return data.map(endpointFromWire);
}

/**
 * Changes an endpoint, or turns it off and on. An omitted password is not changed. Throws a NotFoundError if the environment has no such
 * endpoint, and an UnprocessableEntityError for a field that its kind does not have.
 *
 * @example
 * await notifications.updateEndpoint('endpoint_…', { enabled: true });
 */
export function updateEndpoint(
  projectRef: string,
  env: string,
  endpointId: string,
  changes: UpdateEndpointOptions,
): Promise<NotificationEndpoint>;
export function updateEndpoint(
  endpointId: string,
  changes: UpdateEndpointOptions,
): Promise<NotificationEndpoint>;
export async function updateEndpoint(
  ...args: readonly (string | UpdateEndpointOptions)[]
): Promise<NotificationEndpoint> {
  const { client, params, rest } = await addressed<[string, UpdateEndpointOptions]>(args, 2);
  const [endpointId, body] = rest;
  return endpointFromWire(
    await client.call('updateNotificationEndpoint', { params: { ...params, endpointId }, body }),
  );
}

/**
 * Deletes an endpoint with its deliveries. Throws a ConflictError while an alert refers to it.
 *
 * @example
 * await notifications.deleteEndpoint('endpoint_…');
 */
export function deleteEndpoint(projectRef: string, env: string, endpointId: string): Promise<{ id: string }>;
export function deleteEndpoint(endpointId: string): Promise<{ id: string }>;
export async function deleteEndpoint(...args: readonly string[]): Promise<{ id: string }> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return client.call('deleteNotificationEndpoint', { params: { ...params, endpointId: rest[0] } });
}

/**
 * Sends a test message. `retrieveDelivery` shows the result of its delivery. Throws a ConflictError if the endpoint is disabled.
 *
 * @example
 * const { id } = await notifications.testEndpoint('endpoint_…');
 */
export function testEndpoint(
  projectRef: string,
  env: string,
  endpointId: string,
): Promise<NotificationDelivery>;
export function testEndpoint(endpointId: string): Promise<NotificationDelivery>;
export async function testEndpoint(...args: readonly string[]): Promise<NotificationDelivery> {
  const { client, params, rest } = await addressed<[string]>(args, 1);
  return deliveryFromWire(
    await client.call('testNotificationEndpoint', { params: { ...params, endpointId: rest[0] } }),
  );
}
