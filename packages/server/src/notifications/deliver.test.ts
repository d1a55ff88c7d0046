import { describe, expect, test } from 'vitest';
import { startNotifyingServer, type NotifyingServer } from './testing/notifying-server.ts';
import { startReceiver, verify, type Receiver } from './testing/receiver.ts';
import { promote } from '../../../../test/support/promote.ts';

const hour = 3_600_000;
const day = 24 * hour;
const arrived = async (receiver: Receiver, count: number): Promise<void> =>
  await expect.poll(() => receiver.received.length, { timeout: 10_000, interval: 20 }).toBe(count);
const deliveries = async (server: NotifyingServer, query = '') =>
  (await server.notifications(`/deliveries${query}`)).body.data;
/** The final state of the only delivery. */
const comesTo = async (server: NotifyingServer, expected: object): Promise<void> =>
  await expect
    .poll(async () => (await deliveries(server))[0], { timeout: 10_000, interval: 20 })
    .toMatchObject(expected);
/** Causes a single delivery: a version becomes current. */
const causeDelivery = async (server: NotifyingServer, contentHash: string) => {
  const body = { contentHash, tasks: [] };
  const { version } = (await server.ask('/runner/v1/versions', { method: 'POST', body })).body;
  await promote(server.url, server.keys.prod, version);
};

describe('a delivery', () => {
  test('is retried after increasing pauses, with the same id, until it is accepted', async () => {
    const server = await startNotifyingServer();
    const receiver = await startReceiver();
    const { id, secret } = await server.endpoint(receiver.url, ['deployment.registered']);
    const answers = [500, 302, 204];
    receiver.answer = () => answers.shift() ?? 204;
    await causeDelivery(server, 'content-1');
    await arrived(receiver, 1);
    await comesTo(server, {
      attempts: 1,
      status: 'PENDING',
      responseStatus: 500,
      failure: 'The endpoint returned 500',
      endpointId: id,
    });
    const [first] = await deliveries(server);
    const pause = Date.parse(first.dueAt) - Date.parse(first.lastAttemptAt);
    expect(pause).toBeGreaterThan(4_500);
    expect(pause).toBeLessThan(6_500);
    expect((await server.notifications(`/endpoints/${id}`)).body.failingSince).not.toBeNull();
    server.shiftTime(6_000);
    await arrived(receiver, 2);
    await comesTo(server, { attempts: 2, responseStatus: 302, failure: 'The endpoint returned 302' });
    server.shiftTime(6 * 60_000);
    await arrived(receiver, 3);
    await comesTo(server, {
      attempts: 3,
      status: 'DELIVERED',
      responseStatus: 204,
      failure: null,
      dueAt: null,
    });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(receiver.received[0]?.headers['webhook-id']).toBe(first.messageId);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/', '/', '/']);
    expect(verify(secret, receiver.received[0] as never)).toMatchObject({ type: 'deployment.registered' });
    expect((await server.notifications(`/endpoints/${id}`)).body.failingSince).toBeNull();
  });

  test('that is never accepted fails after ten attempts, and can be replayed', async () => {
    const server = await startNotifyingServer();
    const receiver = await startReceiver();
    await server.endpoint(receiver.url, ['deployment.registered']);
    receiver.answer = () => 503;
    await causeDelivery(server, 'content-1');
    let shifted = 0;
    for (let attempts = 1; attempts < 10; attempts++) {
      await comesTo(server, { attempts, status: 'PENDING', failure: 'The endpoint returned 503' });
      const [{ dueAt }] = await deliveries(server);
      const wait = Date.parse(dueAt) - Date.now() - shifted + 100;
      server.shiftTime(wait);
      shifted += wait;
    }
    expect(shifted).toBeGreaterThan(3 * day);
    await comesTo(server, { attempts: 10, status: 'FAILED', dueAt: null });
    expect(receiver.received).toHaveLength(10);
    receiver.answer = () => 200;
    const [{ id }] = await deliveries(server);
    expect((await server.notifications(`/deliveries/${id}/replay`, 'POST')).body).toMatchObject({
      id,
      status: 'PENDING',
      attempts: 0,
    });
    await comesTo(server, { status: 'DELIVERED', attempts: 1 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect((await server.notifications(`/deliveries/${id}`)).body.body).toEqual(receiver.received[10]?.body);
  }, 40_000);

  test('contains the reason if the endpoint does not respond', async () => {
    const server = await startNotifyingServer();
    const receiver = await startReceiver();
    await server.endpoint(receiver.url, ['deployment.registered']);
    await receiver.close();
    await causeDelivery(server, 'content-1');
    await comesTo(server, {
      attempts: 1,
      status: 'PENDING',
      responseStatus: null,
      failure: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  test('to a slow receiver does not delay the others', async () => {
    const server = await startNotifyingServer();
    const [slow, quick] = [await startReceiver(), await startReceiver()];
    slow.answer = () => new Promise(() => {});
    await server.endpoint(slow.url, ['deployment.registered']);
    for (let n = 0; n < 20; n++) await causeDelivery(server, `slow-content-${n}`);
    await server.endpoint(quick.url, ['deployment.registered']);
    await causeDelivery(server, 'content-q');
    await arrived(quick, 1);
    expect(slow.received.length).toBeLessThanOrEqual(5);
  });

  test('is listed in pages, newest first, filtered by endpoint, type and status', async () => {
    const server = await startNotifyingServer();
    const [good, bad] = [await startReceiver(), await startReceiver()];
    bad.answer = () => 500;
    const endpoint = await server.endpoint(good.url, ['deployment.*']);
    const other = await server.endpoint(bad.url, ['deployment.promoted']);
    await causeDelivery(server, 'content-1');
    await causeDelivery(server, 'content-2');
    await arrived(good, 4);
    await arrived(bad, 2);
    await expect.poll(async () => (await deliveries(server, '?filter[status]=DELIVERED')).length).toBe(4);
    expect(await deliveries(server, `?filter[endpoint]=${other.id}`)).toHaveLength(2);
    expect(
      await deliveries(server, `?filter[endpoint]=${endpoint.id}&filter[type]=deployment.promoted`),
    ).toHaveLength(2);
    expect(await deliveries(server, '?filter[status]=PENDING')).toHaveLength(2);
    const ids: string[] = [];
    let next: string | undefined;
    do {
      const { body } = await server.notifications(
        `/deliveries?page[size]=4${next ? `&page[after]=${next}` : ''}`,
      );
      ids.push(...body.data.map(({ id }: { id: string }) => id));
      next = body.pagination.next;
    } while (next !== undefined);
    expect(new Set(ids).size).toBe(6);
    const back = await server.notifications(`/deliveries?page[size]=4&page[before]=${ids[4]}`);
    expect(back.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 4));
    expect((await server.notifications('/deliveries/nothing')).status).toBe(404);
    expect((await server.notifications('/deliveries?page[after]=nothing')).status).toBe(400);
  });
});

describe('an endpoint', () => {
  test('that accepts nothing for days is disabled, the other endpoints are notified, and it can be enabled again', async () => {
    const server = await startNotifyingServer();
    const [dead, alive] = [await startReceiver(), await startReceiver()];
    dead.answer = () => 500;
    const { id } = await server.endpoint(`${dead.url}/secret-path`, ['deployment.registered']);
    await server.endpoint(alive.url, ['endpoint.disabled']);
    await causeDelivery(server, 'content-1');
    await comesTo(server, { attempts: 1, failure: 'The endpoint returned 500' });
    for (let attempts = 2; attempts <= 6; attempts++) {
      server.shiftTime(day + 1_000);
      await arrived(dead, attempts);
      if (attempts < 6) await comesTo(server, { attempts, failure: 'The endpoint returned 500' });
    }
    await arrived(alive, 1);
    expect(alive.received[0]?.body).toMatchObject({
      type: 'endpoint.disabled',
      data: { id, url: dead.url, disabledBy: 'failing', reason: 'no delivery was accepted for five days' },
    });
    expect((await server.notifications(`/endpoints/${id}`)).body).toMatchObject({
      enabled: false,
      disabledBy: 'failing',
    });
    expect(server.logged.map((line) => JSON.parse(line).event)).toContain('endpoint.disabled');
    const count = dead.received.length;
    await causeDelivery(server, 'content-3');
    const [delivery] = await deliveries(server, `?filter[endpoint]=${id}`);
    expect(delivery).toMatchObject({ status: 'FAILED' });
    expect((await server.notifications(`/deliveries/${delivery.id}/replay`, 'POST')).status).toBe(409);
    dead.answer = () => 200;
    const enabled = await server.notifications(`/endpoints/${id}`, 'PATCH', { enabled: true });
    expect(enabled.body).toMatchObject({
      enabled: true,
      disabledBy: null,
      disabledAt: null,
      failingSince: null,
    });
    await server.notifications(`/deliveries/${delivery.id}/replay`, 'POST');
    await arrived(dead, count + 1);
  });

  test('that failed long ago and received nothing since is not disabled after one more failure', async () => {
    const server = await startNotifyingServer();
    const receiver = await startReceiver();
    receiver.answer = () => 500;
    const { id } = await server.endpoint(receiver.url, ['deployment.registered']);
    await causeDelivery(server, 'content-1');
    await comesTo(server, { attempts: 1, failure: 'The endpoint returned 500' });
    server.shiftTime(21 * day);
    await comesTo(server, { attempts: 2, failure: 'The endpoint returned 500' });
    expect((await server.notifications(`/endpoints/${id}`)).body).toMatchObject({ enabled: true });
    // From now on it receives requests and fails for five more days.
    for (let attempts = 3; attempts <= 7; attempts++) {
      expect((await server.notifications(`/endpoints/${id}`)).body.enabled).toBe(true);
      server.shiftTime(day + 1_000);
      await arrived(receiver, attempts);
      if (attempts < 7) await comesTo(server, { attempts, failure: 'The endpoint returned 500' });
    }
    await expect
      .poll(async () => (await server.notifications(`/endpoints/${id}`)).body.disabledBy)
      .toBe('failing');
  });

  test('that returns 410 is disabled immediately', async () => {
    const server = await startNotifyingServer();
    const receiver = await startReceiver();
    receiver.answer = () => 410;
    const { id } = await server.endpoint(receiver.url, ['deployment.registered']);
    await causeDelivery(server, 'content-1');
    await expect
      .poll(async () => (await server.notifications(`/endpoints/${id}`)).body.disabledBy)
      .toBe('gone');
    await comesTo(server, { status: 'FAILED', responseStatus: 410 });
  });

  test('with a new secret is signed with both for a day', async () => {
    const server = await startNotifyingServer();
    const receiver = await startReceiver();
    const before = await server.endpoint(receiver.url, ['deployment.registered']);
    const { body: after } = await server.notifications(`/endpoints/${before.id}/rotate-secret`, 'POST');
    expect(after.secret).not.toBe(before.secret);
    await causeDelivery(server, 'content-1');
    await arrived(receiver, 1);
    for (const { secret } of [before, after]) expect(verify(secret, receiver.received[0]!)).toBeDefined();
    server.shiftTime(day + 1_000);
    await causeDelivery(server, 'content-2');
    await arrived(receiver, 2);
    expect(String(receiver.received[1]?.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });
});
