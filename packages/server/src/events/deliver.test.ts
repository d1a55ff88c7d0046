import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { connect } from '../db/connect.ts';
import { eventServer, ownEventServer, type EventServer } from './testing/subscribed.ts';

const hour = 3_600_000;
const retrieve = async (server: EventServer, id: string) => (await server.ask(`/api/v1/events/${id}`)).body;
const statusBecomes = async (server: EventServer, id: string, status: string): Promise<void> =>
  await expect.poll(async () => (await retrieve(server, id)).status, { interval: 20 }).toBe(status);

describe('an event with a time', () => {
  test('waits until its time, and starts a run of each task subscribed by then', async () => {
    const server = await ownEventServer();
    await server.register({ old: { name: 'x' } });
    const sent = await server.send('later', { name: 'x', payload: 1, deliverAfter: 3_600 });
    expect(sent.body).toMatchObject({ status: 'PENDING', runs: [], event: { deliverAfter: 3_600 } });
    const dueAt = Date.parse(sent.body.event.deliverAt);
    expect(Math.abs(dueAt - Date.now() - hour)).toBeLessThan(60_000);
    expect((await server.send('later', { name: 'x', payload: 1, deliverAfter: 3_600 })).body).toMatchObject({
      isDuplicate: true,
      isDifferent: false,
    });
    await server.register({ mail: { name: 'x' }, audit: { name: '*' }, other: { name: 'y' } });
    server.shiftTime(hour - 5_000);
    expect(await retrieve(server, 'later')).toMatchObject({ status: 'PENDING', deliveredAt: null });
    server.shiftTime(6_000);
    await statusBecomes(server, 'later', 'DELIVERED');
    const event = await retrieve(server, 'later');
    expect(event.runs.map((run: { taskIdentifier: string }) => run.taskIdentifier).toSorted()).toEqual([
      'audit',
      'mail',
    ]);
    expect(Date.parse(event.deliveredAt)).toBeGreaterThanOrEqual(dueAt);
    expect((await server.ask(`/api/v3/runs/${event.runs[0].id}`)).body).toMatchObject({
      payload: 1,
      event: { id: 'later', name: 'x' },
    });
  });

  test('is delivered immediately if the time has passed, and on time if it is near', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'x' } });
    expect((await server.send('past', { name: 'x', deliverAt: '2020-01-01' })).body).toMatchObject({
      status: 'DELIVERED',
      event: { deliverAt: '2020-01-01T00:00:00.000Z' },
    });
    const due = Date.now() + 400;
    expect((await server.send('soon', { name: 'x', deliverAt: due })).body.status).toBe('PENDING');
    await statusBecomes(server, 'soon', 'DELIVERED');
    const late = Date.parse((await retrieve(server, 'soon')).deliveredAt) - due;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(3_000);
  });

  test('is stored as unmatched if no task is subscribed by then', async () => {
    const server = await ownEventServer();
    await server.register({ mail: { name: 'x' } });
    await server.send('later', { name: 'x', deliverAfter: '1h' });
    await server.register({ mail: { name: 'y' } });
    server.shiftTime(hour + 1_000);
    await statusBecomes(server, 'later', 'UNMATCHED');
  });

  test('can be canceled until its time, but no later', async () => {
    const server = await ownEventServer();
    await server.register({ mail: { name: 'x' } });
    await server.send('later', { name: 'x', deliverAfter: '1h' });
    await server.send('now', { name: 'x' });
    const cancel = (id: string) => server.ask(`/api/v1/events/${id}/cancel`, { method: 'POST' });
    expect((await cancel('later')).body).toMatchObject({
      status: 'CANCELED',
      runs: [],
      canceledAt: expect.any(String),
    });
    expect((await cancel('later')).status).toBe(200);
    const refused = await cancel('now');
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect((await cancel('nothing')).status).toBe(404);
    server.shiftTime(2 * hour);
    await server.send('after', { name: 'x', deliverAfter: 0.2 });
    await statusBecomes(server, 'after', 'DELIVERED');
    expect(await retrieve(server, 'later')).toMatchObject({ status: 'CANCELED', runs: [] });
    // Its id is still in use.
    expect((await server.send('later', { name: 'x' })).body).toMatchObject({
      status: 'CANCELED',
      isDuplicate: true,
      isDifferent: true,
    });
  });

  test('is either canceled or delivered if both happen at once', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'x' } });
    const ids = Array.from({ length: 60 }, (_, n) => `e${n}`);
    const due = Date.now() + 700;
    await Promise.all(ids.map((id) => server.send(id, { name: 'x', deliverAt: due })));
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(due - 10);
    const answers = await Promise.all(
      ids.map((id) => server.ask(`/api/v1/events/${id}/cancel`, { method: 'POST' })),
    );
    await expect
      .poll(async () => (await server.ask('/api/v1/events?filter[status]=PENDING')).body.data, {
        timeout: 5_000,
      })
      .toEqual([]);
    for (const [n, id] of ids.entries()) {
      const { status, runs } = await retrieve(server, id);
      const answered = answers[n]?.status ?? 0;
      const canceled: [string, number] = ['CANCELED', 0];
      const delivered: [string, number] = ['DELIVERED', 1];
      // A response with neither result (a 503 from a busy machine) leaves both possible, but never a mixture of the two.
      const possible = answered === 200 ? [canceled] : answered === 409 ? [delivered] : [canceled, delivered];
      expect(possible, `after ${answered}`).toContainEqual([status, runs.length]);
    }
  });
});

test('an event that cannot be delivered does not delay others, and contains the reason', async () => {
  const database = await testDatabase();
  const sql = connect(database.connection, { name: 'millrace tests', max: 1 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  const server = await ownEventServer({ database: database.connection });
  await server.register({ mail: { name: '*' } });
  const ids = Array.from({ length: 12 }, (_, n) => `e${n}`);
  for (const id of ids) await server.send(id, { name: 'x', payload: id, deliverAfter: '1h' });
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.payload = '"e3"' then raise exception 'not this one'; end if; return new; end $$;
    create trigger refuse before insert on runs for each row execute function refuse()`);
  server.shiftTime(hour + 1_000);
  for (const id of ids) await statusBecomes(server, id, id === 'e3' ? 'FAILED' : 'DELIVERED');
  for (const id of ids) expect((await retrieve(server, id)).runs).toHaveLength(id === 'e3' ? 0 : 1);
  expect((await server.ask('/api/v1/runs')).body.data).toHaveLength(11);
  expect(await retrieve(server, 'e3')).toMatchObject({ failure: 'not this one', deliveredAt: null });
  expect(await retrieve(server, 'e4')).not.toHaveProperty('failure');
  const listed = (await server.ask('/api/v1/events?filter[status]=FAILED')).body.data;
  expect(listed).toMatchObject([{ id: 'e3', failure: 'not this one' }]);
  expect((await server.ask('/api/v1/events?filter[status]=PENDING')).body.data).toEqual([]);
  const cancel = await server.ask('/api/v1/events/e3/cancel', { method: 'POST' });
  expect([cancel.status, cancel.body.error]).toEqual([
    409,
    expect.stringContaining('could not be delivered'),
  ]);
  await sql`drop trigger refuse on runs`;
  const again = await server.ask('/api/v1/events/e3/replay', { method: 'POST' });
  expect(again.body).toMatchObject({ status: 'DELIVERED', runs: [expect.any(String)] });
});

describe('a replay', () => {
  test('is a new event with the same content, for the current subscriptions', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'x' } });
    const first = await server.send('first', {
      name: 'x',
      payload: { a: 1 },
      timestamp: '2026-01-01T00:00:00Z',
      deliverAfter: 0,
    });
    await server.register({ mail: { name: 'x' }, audit: { name: 'x' } });
    const again = await server.ask('/api/v1/events/first/replay', { method: 'POST' });
    expect(again.body).toMatchObject({
      id: expect.stringMatching(/^event_/),
      event: { name: 'x', payload: { a: 1 }, timestamp: '2026-01-01T00:00:00.000Z' },
      status: 'DELIVERED',
      isDuplicate: false,
    });
    expect(again.body.runs).toHaveLength(2);
    expect(again.body.event).not.toHaveProperty('deliverAt');
    expect(await retrieve(server, again.body.id)).toMatchObject({ replayOf: 'first' });
    expect(await retrieve(server, 'first')).toMatchObject({
      replayOf: null,
      runs: [{ id: first.body.runs[0] }],
    });
    expect((await server.ask(`/api/v3/runs/${again.body.runs[0]}`)).body.event).toMatchObject({
      replayOf: 'first',
    });
  });

  test('with an id happens once, regardless of the number of requests', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'x' } });
    await server.send('first', { name: 'x', payload: 1 });
    const replay = () =>
      server.ask('/api/v1/events/first/replay', { method: 'POST', body: { id: 'second' } });
    const answers = await Promise.all(Array.from({ length: 20 }, replay));
    expect(answers.filter(({ body }) => !body.isDuplicate)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.isDifferent)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.runs.join())).size).toBe(1);
    expect((await server.ask('/api/v1/events/none/replay', { method: 'POST' })).status).toBe(404);
  });
});

describe('the list', () => {
  test('has events newest first, in pages, forward and back', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'x' } });
    for (let n = 1; n <= 7; n++) await server.send(`e${n}`, { name: n % 2 ? 'x' : 'y' });
    await server.send('waits', { name: 'x', deliverAfter: 60 });
    const page = async (query: string) => {
      const { body } = await server.ask(`/api/v1/events?page[size]=3&${query}`);
      return { ids: body.data.map(({ id }: { id: string }) => id), ...body.pagination };
    };
    const first = await page('');
    expect(first).toEqual({ ids: ['waits', 'e7', 'e6'], next: 'e6' });
    const second = await page('page[after]=e6');
    expect(second).toEqual({ ids: ['e5', 'e4', 'e3'], next: 'e3', previous: 'e5' });
    expect(await page('page[after]=e3')).toEqual({ ids: ['e2', 'e1'], previous: 'e2' });
    expect(await page('page[before]=e5')).toEqual({ ids: ['waits', 'e7', 'e6'], next: 'e6' });
    expect((await page('filter[name]=y')).ids).toEqual(['e6', 'e4', 'e2']);
    expect((await page('filter[status]=PENDING,UNMATCHED')).ids).toEqual(['waits', 'e6', 'e4']);
    expect((await page('filter[status]=CANCELED')).ids).toEqual([]);
    expect((await page(`filter[from]=${Date.now() + hour}`)).ids).toEqual([]);
    expect((await page('filter[from]=-999999999999999&filter[to]=999999999999999')).ids).toHaveLength(3);
    const { body } = await server.ask('/api/v1/events?page[size]=1&filter[status]=DELIVERED');
    expect(body.data).toEqual([
      {
        id: 'e7',
        name: 'x',
        status: 'DELIVERED',
        createdAt: expect.any(String),
        deliverAt: null,
        deliveredAt: expect.any(String),
        canceledAt: null,
        replayOf: null,
        runCount: 1,
      },
    ]);
    const wrong = await server.ask('/api/v1/events?page[after]=nothing');
    expect([wrong.status, wrong.body.details[0].path]).toEqual([400, ['page[after]']]);
    expect((await server.ask('/api/v1/events?filter[status]=done')).status).toBe(400);
    expect((await server.ask('/api/v1/events', { key: server.keys.stg })).body.data).toEqual([]);
  });
});
