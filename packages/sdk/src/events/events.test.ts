import type { StandardSchemaV1 } from '@standard-schema/spec';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { configure, event, events, task, UnserializableError, type Task } from '../index.ts';
import { execute } from '../executor/execute.ts';
import { manifestOf } from '../executor/manifest.ts';
import { assignmentOf, environment } from '../testing/assignment.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeEach(async () => {
  server = await startServer((request) => answer(request));
  configure({ baseURL: server.url, secretKey: 'k' });
});
afterEach(() => server.close());

const times = {
  createdAt: '2026-11-20T00:00:00.000Z',
  deliverAt: null,
  deliveredAt: '2026-11-21T00:00:00.000Z',
  canceledAt: null,
};

describe('send', () => {
  test('sends the event under its id, or under a generated one', async () => {
    answer = () => ({ body: { id: 'x' } });
    await events.send({
      id: 'order-1',
      name: 'order.paid',
      payload: { at: new Date(0) },
      shard: 3,
      deliverAt: new Date(1),
    });
    await events.send({ name: 'order.paid' });
    expect(server.received).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/events',
        body: {
          id: 'order-1',
          event: {
            name: 'order.paid',
            payload: { at: '1970-01-01T00:00:00.000Z' },
            shard: 3,
            deliverAt: '1970-01-01T00:00:00.001Z',
          },
        },
      },
      { body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), event: { name: 'order.paid' } } },
    ]);
  });

  test('keeps the generated id when it retries', async () => {
    answer = () => (server.received.length === 1 ? { status: 503 } : { body: { id: 'x' } });
    await events.send({ name: 'order.paid' });
    const [first, second] = server.received;
    expect(second?.body).toEqual(first?.body);
  });

  test('rejects a payload that is not JSON, and sends nothing', async () => {
    answer = () => ({});
    await expect(events.send({ name: 'x', payload: 1n })).rejects.toThrow(UnserializableError);
    await expect(events.sendBatch([{ name: 'x' }, { name: 'x', payload: 1n }])).rejects.toThrow(
      UnserializableError,
    );
    expect(server.received).toEqual([]);
  });

  test('sends a batch, 500 to a request, and returns a reply for each event in order', async () => {
    answer = ({ body }) => ({
      body: { events: (body as { events: { id: string }[] }).events.map(({ id }) => ({ id })) },
    });
    const batch = Array.from({ length: 501 }, (_, n) => ({ id: `e${n}`, name: 'x' }));
    expect((await events.sendBatch(batch)).map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    expect(server.received.map(({ path }) => path)).toEqual([
      '/api/v1/event-batches',
      '/api/v1/event-batches',
    ]);
    expect(await events.sendBatch([])).toEqual([]);
  });
});

test('list, retrieve, replay and cancel send the event in the path and return dates', async () => {
  answer = ({ path }) =>
    path.startsWith('/api/v1/events?')
      ? { body: { data: [{ id: 'a/b', ...times }], pagination: {} } }
      : { body: { id: 'a/b', ...times } };
  const page = await events.list({ name: ['a', 'b'], status: 'PENDING', from: new Date(5), limit: 3 });
  expect(page.data[0]).toMatchObject({ id: 'a/b', createdAt: new Date('2026-11-20'), deliverAt: null });
  expect((await events.retrieve(page.data[0]!)).deliveredAt).toEqual(new Date('2026-11-21'));
  await events.replay('a/b', { id: 'again' });
  await events.cancel('a/b');
  expect(server.received.map(({ method, path, body }) => [method, decodeURIComponent(path), body])).toEqual([
    ['GET', '/api/v1/events?page[size]=3&filter[name]=a,b&filter[status]=PENDING&filter[from]=5', undefined],
    ['GET', '/api/v1/events/a/b', undefined],
    ['POST', '/api/v1/events/a/b/replay', { id: 'again' }],
    ['POST', '/api/v1/events/a/b/cancel', undefined],
  ]);
  await expect(events.retrieve('')).rejects.toThrow(/Pass the id/);
});

const total: StandardSchemaV1<{ total: string }, { total: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const amount = Number((value as { total?: unknown } | null)?.total);
      return Number.isNaN(amount)
        ? { issues: [{ message: 'no number', path: ['total'] }] }
        : { value: { total: amount } };
    },
  },
};
const bigOrders = task({
  id: 'big-orders',
  on: event({
    name: 'order.*',
    filter: { total: { $gte: '100' }, customer: { plan: 'pro' } },
    schema: total,
  }),
  run: ({ total: amount }, { ctx }) => ({ amount, by: ctx.event?.name, at: ctx.event?.timestamp.getTime() }),
});
const plain = task({
  id: 'plain',
  on: event({ name: 'order.paid' }),
  run: (payload: { n: number }) => payload.n,
});

describe('a task with on', () => {
  test('declares its events to the server', () => {
    expect(manifestOf(bigOrders, 'tasks/orders.ts').on).toEqual({
      name: 'order.*',
      filter: { total: { $gte: '100' }, customer: { plan: 'pro' } },
    });
    expect(manifestOf(plain, 'tasks/orders.ts').on).toEqual({ name: 'order.paid', filter: undefined });
  });

  test.each([
    ['on', 7, /task "x": on must be event\(/],
    ['on.name', { name: '' }, /on\.name must be the name of an event/],
    ['on.filter', { name: 'a', filter: [] }, /on\.filter must be an object of fields/],
  ])('is rejected with an invalid %s', (_, on, message) => {
    expect(() => manifestOf(task({ id: 'x', on: on as never, run: () => 1 }), 'tasks/x.ts')).toThrow(message);
  });

  const run = (payload: unknown) =>
    execute({
      task: bigOrders,
      assignment: assignmentOf({
        task: 'big-orders',
        payload: JSON.stringify(payload),
        event: JSON.stringify({ id: 'e1', name: 'order.paid', timestamp: '2026-01-01T00:00:00.000Z' }),
      }),
      environment,
      signal: new AbortController().signal,
      onLog() {},
    });

  test('receives the payload as parsed by the schema, and the event in its ctx', async () => {
    const outcome = await run({ total: '120' });
    expect(outcome).toMatchObject({ kind: 'completed' });
    expect(JSON.parse((outcome as { output: string }).output)).toEqual({
      amount: 120,
      by: 'order.paid',
      at: Date.parse('2026-01-01'),
    });
  });

  test('fails immediately when the payload does not fit the schema', async () => {
    expect(await run({})).toMatchObject({ kind: 'failed', error: { name: 'PayloadValidationError' } });
  });
});

test('types follow from the schema of the event', () => {
  expectTypeOf(bigOrders).toExtend<
    Task<'big-orders', { total: string }, { amount: number; by: string | undefined; at: number | undefined }>
  >();
  expectTypeOf(plain.trigger).parameter(0).toEqualTypeOf<{ n: number }>();
});
