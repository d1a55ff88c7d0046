import { afterEach, beforeEach, expect, test } from 'vitest';
import { alerts, configure, notifications, runs } from '../index.ts';
import { startServer, type HttpServer } from '../testing/http-server.ts';

const at = '2026-11-23T00:00:00.000Z';
const alert = {
  id: 'alert_1',
  kind: 'error.new',
  state: 'FIRING',
  firingSince: at,
  lastSentAt: null,
  createdAt: at,
};
const delivery = { id: 'delivery_1', status: 'PENDING', createdAt: at, dueAt: at, deliveredAt: null };

let server: HttpServer;
beforeEach(async () => {
  server = await startServer(({ path, method }) => {
    if (path.startsWith('/api/v1/whoami'))
      return { body: { project: { ref: 'proj_1' }, environment: { name: 'prod' } } };
    if (path.includes('/run-paths') && method === 'GET')
      return { body: { data: [{ path: 'metadata.a', createdAt: at, state: 'READY', progress: 1 }] } };
    if (path.includes('/run'))
      return { body: { data: [], pagination: {}, path: 'metadata.a', createdAt: at } };
    if (path.includes('/deliveries?')) return { body: { data: [delivery], pagination: {} } };
    if (path.includes('/deliveries') || path.endsWith('/test')) return { body: delivery };
    if (path.includes('/endpoints'))
      return method === 'GET'
        ? { body: { data: [{ id: 'endpoint_1', createdAt: at, failingSince: null, disabledAt: null }] } }
        : { body: { id: 'endpoint_1', createdAt: at, failingSince: null, disabledAt: null } };
    if (method === 'GET' && path.endsWith('/prod')) return { body: { data: [alert] } };
    return { body: { ...alert, subjects: [{ subject: 'mail', since: at, value: 3, notified: true }] } };
  });
  configure({ baseURL: server.url, secretKey: 'k' });
});
afterEach(() => server.close());

const calls = () =>
  server.received
    .filter(({ path }) => !path.startsWith('/api/v1/whoami'))
    .map(({ method, path }) => `${method} ${path}`);

test('alerts are created, read, updated and deleted, with times as dates', async () => {
  const time = new Date(at);
  expect(await alerts.create({ kind: 'error.new', quiet: '10m' })).toMatchObject({ firingSince: time });
  expect(await alerts.list()).toMatchObject([{ createdAt: time, lastSentAt: null }]);
  expect((await alerts.retrieve('alert_1')).subjects).toEqual([
    { subject: 'mail', since: time, value: 3, notified: true },
  ]);
  await alerts.update('alert_1', { task: null });
  await alerts.del('proj_2', 'stg', 'alert_1');
  expect(calls()).toEqual([
    'POST /api/v1/projects/proj_1/alerts/prod',
    'GET /api/v1/projects/proj_1/alerts/prod',
    'GET /api/v1/projects/proj_1/alerts/prod/alert_1',
    'PATCH /api/v1/projects/proj_1/alerts/prod/alert_1',
    'DELETE /api/v1/projects/proj_2/alerts/stg/alert_1',
  ]);
});

test('endpoints are created and tested, and their deliveries read and retried', async () => {
  const time = new Date(at);
  expect(
    await notifications.createEndpoint({ kind: 'slack', url: 'https://hooks.example.com' }),
  ).toMatchObject({
    createdAt: time,
  });
  expect(await notifications.listEndpoints()).toMatchObject([{ id: 'endpoint_1', failingSince: null }]);
  await notifications.updateEndpoint('endpoint_1', { enabled: false });
  expect(await notifications.testEndpoint('endpoint_1')).toMatchObject({ dueAt: time, deliveredAt: null });
  const found = [];
  for await (const each of notifications.listDeliveries({ status: ['FAILED'], limit: 5 })) found.push(each);
  expect(found).toMatchObject([{ createdAt: time }]);
  await notifications.retrieveDelivery('delivery_1');
  await notifications.replayDelivery('delivery_1');
  await notifications.deleteEndpoint('endpoint_1');
  const root = '/api/v1/projects/proj_1/notifications/prod';
  expect(calls()).toEqual([
    `POST ${root}/endpoints`,
    `GET ${root}/endpoints`,
    `PATCH ${root}/endpoints/endpoint_1`,
    `POST ${root}/endpoints/endpoint_1/test`,
    `GET ${root}/deliveries?page%5Bsize%5D=5&filter%5Bstatus%5D=FAILED`,
    `GET ${root}/deliveries/delivery_1`,
    `POST ${root}/deliveries/delivery_1/replay`,
    `DELETE ${root}/endpoints/endpoint_1`,
  ]);
});

test('runs are listed by declared paths', async () => {
  expect(await runs.declarePath('metadata.a')).toMatchObject({ createdAt: new Date(at) });
  expect(await runs.listPaths()).toMatchObject([{ progress: 1, createdAt: new Date(at) }]);
  await runs.list({ metadata: { a: [1, 'x'] }, payload: { b: true }, errorText: 'full' });
  await runs.removePath('metadata.a');
  const query = new URL(server.received.at(-2)?.path ?? '', 'http://x').searchParams;
  expect(Object.fromEntries(query)).toEqual({
    'filter[metadata]': '{"a":[1,"x"]}',
    'filter[payload]': '{"b":true}',
    'filter[errorText]': 'full',
  });
  expect(calls().at(-1)).toBe('DELETE /api/v1/run-paths/metadata.a');
});
