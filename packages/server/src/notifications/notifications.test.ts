import { expect, test } from 'vitest';
import { notifyingServer, startNotifyingServer, task } from './testing/notifying-server.ts';
import { startReceiver, verify, type Receiver } from './testing/receiver.ts';
import { promote } from '../../../../test/support/promote.ts';

const arrived = async (receiver: Receiver, count: number): Promise<void> =>
  await expect.poll(() => receiver.received.length, { timeout: 10_000, interval: 20 }).toBe(count);
const ofType = (receiver: Receiver, type: string) =>
  receiver.received.filter(({ body }) => body.type === type);

test('a failed run is reported with its new error group, signed for the Standard Webhooks library', async () => {
  const server = await notifyingServer();
  const receiver = await startReceiver();
  const { secret } = await server.endpoint(`${receiver.url}/hook?x=1`, ['run.failed', 'error.*']);
  const version = await server.deploy();
  const run = await server.fail('card declined');
  await arrived(receiver, 2);
  for (const request of receiver.received) {
    expect(verify(secret, request)).toEqual(request.body);
    expect(request.path).toBe('/hook?x=1');
    expect(request.headers['webhook-id']).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(() => verify('whsec_c29tZXRoaW5nIGVsc2U=', request)).toThrow(/No matching signature/);
    expect(() => verify(secret, { ...request, text: `${request.text} ` })).toThrow(/No matching signature/);
  }
  const [failed] = ofType(receiver, 'run.failed');
  expect(failed?.body).toMatchObject({
    timestamp: expect.stringMatching(/Z$/),
    data: {
      id: run,
      taskIdentifier: task,
      status: 'FAILED',
      version,
      attemptCount: 1,
      error: { name: 'TypeError', message: 'card declined' },
      errorId: expect.stringMatching(/^error_/),
    },
    environment: { slug: 'prod', type: 'PRODUCTION' },
    project: { ref: server.projectRef },
  });
  const [fresh] = ofType(receiver, 'error.new');
  expect(fresh?.body.data).toMatchObject({
    id: failed?.body.data['errorId'],
    taskIdentifier: task,
    errorType: 'TypeError',
    errorMessage: 'card declined',
    count: 1,
  });
});

test('a recurring error group is reported as regressed, or as no longer ignored', async () => {
  const server = await startNotifyingServer();
  const receiver = await startReceiver();
  await server.deploy();
  await server.fail('boom');
  await expect.poll(async () => (await server.ask('/api/v1/errors')).body.data.length).toBe(1);
  const [{ id }] = (await server.ask('/api/v1/errors')).body.data;
  await server.endpoint(receiver.url, ['error.*']);

  await server.fail('boom');
  await server.ask(`/api/v1/errors/${id}/resolve`, { method: 'POST', body: {} });
  // A run that started before the group was resolved does not count, but this one starts later.
  await expect
    .poll(
      async () => {
        await server.fail('boom');
        return receiver.received.length;
      },
      { timeout: 10_000, interval: 300 },
    )
    .toBeGreaterThan(0);
  expect(receiver.received[0]?.body).toMatchObject({
    type: 'error.regressed',
    data: { id, before: { status: 'resolved' } },
  });

  await server.ask(`/api/v1/errors/${id}/ignore`, { method: 'POST', body: { totalOccurrences: 1 } });
  await server.fail('boom');
  await expect.poll(() => ofType(receiver, 'error.unignored').length, { timeout: 10_000 }).toBe(1);
  expect(ofType(receiver, 'error.new')).toEqual([]);

  // The expiry of an ignore also counts, without a failure.
  await server.ask(`/api/v1/errors/${id}/ignore`, { method: 'POST', body: { duration: 3_600_000 } });
  server.shiftTime(3_601_000);
  await expect.poll(() => ofType(receiver, 'error.unignored').length, { timeout: 15_000 }).toBe(2);
}, 40_000);

test('a version is reported when it is registered and when it becomes current', async () => {
  const server = await notifyingServer();
  const receiver = await startReceiver();
  await server.endpoint(receiver.url, ['deployment.*']);
  const register = async (contentHash: string) => {
    const body = { contentHash, tasks: [{ id: task, filePath: 'a.ts' }] };
    const { version } = (await server.ask('/runner/v1/versions', { method: 'POST', body })).body;
    return promote(server.url, server.keys.prod, version);
  };
  const first = await register('content-a');
  const second = await register('content-b');
  await register('content-b');
  await register('content-a');
  await arrived(receiver, 5);
  expect(
    ofType(receiver, 'deployment.registered')
      .map(({ body }) => String(body.data['version']))
      .toSorted(),
  ).toEqual([first, second]);
  const promoted = ofType(receiver, 'deployment.promoted').map(({ body }) => [
    body.data['version'],
    body.data['before'],
  ]);
  expect(promoted).toHaveLength(3);
  expect(promoted).toEqual(
    expect.arrayContaining([
      [first, undefined],
      [second, first],
      [first, second],
    ]),
  );
});

test('ticks missed without a server are reported', async () => {
  const server = await startNotifyingServer();
  const receiver = await startReceiver();
  await server.endpoint(receiver.url, ['schedule.missed']);
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'scheduled', tasks: [{ id: 'report', filePath: 'r.ts', scheduled: true }] },
  });
  await promote(server.url, server.keys.prod);
  const { body } = await server.ask('/api/v1/schedules', {
    method: 'POST',
    body: {
      task: 'report',
      cron: '*/5 * * * *',
      deduplicationKey: 'k',
      missed: 'skip',
      externalId: 'user_1',
    },
  });
  server.shiftTime(3_600_000);
  await arrived(receiver, 1);
  expect(receiver.received[0]?.body).toMatchObject({
    type: 'schedule.missed',
    data: {
      id: body.id,
      taskIdentifier: 'report',
      cron: '*/5 * * * *',
      externalId: 'user_1',
      from: body.nextRun,
    },
  });
});

test('an endpoint receives its subscribed types from its own environment, but nothing from before its creation', async () => {
  const server = await notifyingServer();
  const [all, some, stage] = [await startReceiver(), await startReceiver(), await startReceiver()];
  await server.deploy();
  await server.fail('before');
  await expect.poll(async () => (await server.ask('/api/v1/errors')).body.data.length).toBe(1);
  await server.endpoint(all.url, ['*']);
  await server.endpoint(some.url, ['error.new', 'schedule.missed']);
  await server.ask(`/api/v1/projects/${server.projectRef}/notifications/stg/endpoints`, {
    method: 'POST',
    key: server.keys.stg,
    body: { url: stage.url, types: ['*'] },
  });
  await server.fail('after');
  await arrived(all, 2);
  await arrived(some, 1);
  expect([all.types(), some.types(), stage.types()]).toEqual([
    ['error.new', 'run.failed'],
    ['error.new'],
    [],
  ]);
  // One notification is one message for all receivers.
  const [notification] = ofType(all, 'error.new');
  expect(some.received[0]?.headers['webhook-id']).toBe(notification?.headers['webhook-id']);
  expect((await server.notifications('/deliveries')).body.data).toHaveLength(3);
});
