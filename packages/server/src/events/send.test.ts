import { describe, expect, onTestFinished, test } from 'vitest';
import { masterKeyOf } from '../auth/seal.ts';
import { createLog } from '../logger.ts';
import { startServer } from '../server.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { eventServer, ownEventServer } from './testing/subscribed.ts';
import { promote } from '../../../../test/support/promote.ts';

const tasksOf = async (server: Awaited<ReturnType<typeof eventServer>>, event: string): Promise<string[]> => {
  const { body } = await server.ask(`/api/v1/events/${encodeURIComponent(event)}`);
  return body.runs.map((run: { taskIdentifier: string }) => run.taskIdentifier).toSorted();
};

describe('a sent event', () => {
  test('is returned as stored, and starts a run of each subscribed task', async () => {
    const server = await eventServer();
    await server.register({
      mail: { name: 'order.created' },
      audit: { name: 'order.*' },
      all: { name: '**' },
      vip: { name: 'order.*', filter: { total: { $gte: 100 } } },
      other: { name: 'invoice.*' },
      plain: undefined,
    });
    const sent = await server.send('evt-1', {
      name: 'order.created',
      payload: { total: 20 },
      context: { ip: '::1' },
      source: 'shop',
      timestamp: '2026-01-15T12:00:00+01:00',
      shard: 7,
    });
    expect(sent.status).toBe(200);
    expect(sent.body).toEqual({
      id: 'evt-1',
      event: {
        name: 'order.created',
        payload: { total: 20 },
        context: { ip: '::1' },
        source: 'shop',
        timestamp: '2026-01-15T11:00:00.000Z',
        shard: 7,
      },
      status: 'DELIVERED',
      runs: [expect.stringMatching(/^run_/), expect.stringMatching(/^run_/), expect.stringMatching(/^run_/)],
      isDuplicate: false,
    });
    expect(await tasksOf(server, 'evt-1')).toEqual(['all', 'audit', 'mail']);

    const { body: run } = await server.ask(`/api/v3/runs/${sent.body.runs[0]}`);
    expect(run).toMatchObject({
      payload: { total: 20 },
      event: {
        id: 'evt-1',
        name: 'order.created',
        timestamp: '2026-01-15T11:00:00.000Z',
        source: 'shop',
        context: { ip: '::1' },
      },
    });

    await server.send('evt-2', { name: 'order.paid', payload: { total: 100 } });
    expect(await tasksOf(server, 'evt-2')).toEqual(['all', 'audit', 'vip']);
  });

  test('is stored as unmatched if no task is subscribed, or it has no name', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'order.created' } });
    for (const [id, event] of [
      ['a', { name: 'nobody.cares' }],
      ['b', { payload: 1 }],
      ['c', {}],
    ] as const) {
      expect((await server.send(id, event)).body).toMatchObject({ id, event, status: 'UNMATCHED', runs: [] });
      expect((await server.ask(`/api/v1/events/${id}`)).body).toMatchObject({
        status: 'UNMATCHED',
        runs: [],
      });
    }
  });

  test('uses the version that is current when it is stored', async () => {
    const server = await eventServer();
    expect((await server.send('a', { name: 'x' })).body.status).toBe('UNMATCHED');
    await server.register({ first: { name: 'x' } });
    await server.send('b', { name: 'x' });
    expect(await tasksOf(server, 'b')).toEqual(['first']);
    await server.register({ second: { name: 'x' } });
    await server.send('c', { name: 'x' });
    expect(await tasksOf(server, 'c')).toEqual(['second']);
  });

  test('uses the current version even if another process has just made it current', async () => {
    const { connection, drop } = await testDatabase();
    const options = {
      database: connection,
      port: 0,
      masterKey: masterKeyOf(Buffer.alloc(32, 1)),
      log: createLog({ write() {} }),
    };
    const first = await startServer(options);
    const second = await startServer(options);
    onTestFinished(async () => {
      await Promise.all([first.close(), second.close()]);
      await drop();
    });
    const key = first.credentials?.environments.prod.secretKey ?? '';
    const post = async (url: string, path: string, body: unknown) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
      return (await response.json()) as { runs: string[] };
    };
    for (let round = 1; round <= 10; round++) {
      const tasks = Array.from({ length: round }, (_, n) => ({
        id: `t${n}`,
        filePath: 't.ts',
        on: { name: 'x' },
      }));
      await post(first.url, '/runner/v1/versions', { contentHash: `content-${round}`, tasks });
      await promote(first.url, key);
      expect(
        (await post(second.url, '/api/v1/events', { id: `e${round}`, event: { name: 'x' } })).runs,
      ).toHaveLength(round);
    }
  });
});

describe('the id', () => {
  test('identifies the event: the first is stored, and the response shows whether the second differed', async () => {
    const server = await ownEventServer();
    await server.register({ mail: { name: 'order.created' } });
    const event = { name: 'order.created', payload: { n: 1, m: [1, { a: null }] } };
    const first = await server.send('same', event);
    const again = await server.send('same', {
      payload: { m: [1, { a: null }], n: 1 },
      name: 'order.created',
    });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, isDuplicate: true, isDifferent: false });
    const another = await server.send('same', { ...event, payload: { n: 2 } });
    expect(another.status).toBe(200);
    expect(another.body).toEqual({ ...first.body, isDuplicate: true, isDifferent: true });
    expect((await server.send('same', { name: 'order.paid' })).body).toMatchObject({
      event,
      isDifferent: true,
    });
    expect(await tasksOf(server, 'same')).toEqual(['mail']);
  });

  test('is separate in each environment', async () => {
    const server = await eventServer();
    const body = { id: 'shared', event: { name: 'x' } };
    for (const key of [server.keys.prod, server.keys.stg]) {
      const sent = await server.ask('/api/v1/events', { method: 'POST', body, key });
      expect(sent.body).toMatchObject({ isDuplicate: false });
    }
  });

  test('sent by a thousand clients at once is one event and one run per task', async () => {
    const server = await ownEventServer();
    await server.register({ a: { name: 'x.*' }, b: { name: 'x.y' } });
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => server.send('once', { name: 'x.y', payload: n })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies.filter(({ body }) => !body.isDuplicate)).toHaveLength(1);
    const accepted = replies.find(({ body }) => !body.isDuplicate)?.body;
    expect(new Set(replies.map(({ body }) => JSON.stringify([body.event, body.runs]))).size).toBe(1);
    // All others sent a different payload, as their responses showed.
    expect(replies.filter(({ body }) => body.isDifferent)).toHaveLength(999);
    expect(accepted.runs).toHaveLength(2);
    expect(await tasksOf(server, 'once')).toEqual(['a', 'b']);
    expect((await server.ask('/api/v1/events')).body.data).toHaveLength(1);
  });

  test.each(['a/b', 'ü ?#%', '💡', 'batch'])('may be %s', async (id) => {
    const server = await eventServer();
    expect((await server.send(id, { name: 'x' })).body.id).toBe(id);
    expect((await server.ask(`/api/v1/events/${encodeURIComponent(id)}`)).body).toMatchObject({
      id,
      name: 'x',
    });
  });
});

describe('invalid input', () => {
  test('is rejected with the field and the reason', async () => {
    const server = await eventServer();
    const refused = async (body: unknown, path: string, sentence: RegExp) => {
      const answer = await server.ask('/api/v1/events', { method: 'POST', body });
      expect(answer.status, JSON.stringify(body)).toBe(400);
      expect(answer.body.error).toMatch(sentence);
      expect(answer.body.details.map((detail: { path: string[] }) => detail.path.join('.'))).toContain(path);
    };
    const event = { name: 'x' };
    await refused({ event }, 'id', /"id"/);
    await refused({ id: '', event }, 'id', /"id"/);
    await refused({ id: 5, event }, 'id', /"id"/);
    await refused({ id: 'x'.repeat(256), event }, 'id', /255/);
    await refused({ id: 'a\u0000b', event }, 'id', /NUL/);
    await refused({ id: '..', event }, 'id', /URL path/);
    await refused({ id: 'a' }, 'event', /"event"/);
    for (const wrong of [null, 'text', 7, ['x'], true])
      await refused({ id: 'a', event: wrong }, 'event', /expected object/);
    await refused({ id: 'a', event: { name: '' } }, 'event.name', /"event\.name"/);
    await refused({ id: 'a', event: { name: 5 } }, 'event.name', /"event\.name"/);
    await refused({ id: 'a', event: { ...event, deliverAt: 'soon' } }, 'event.deliverAt', /not a date/);
    await refused({ id: 'a', event: { ...event, deliverAt: '10' } }, 'event.deliverAt', /not a date/);
    await refused(
      { id: 'a', event: { ...event, deliverAfter: -1 } },
      'event.deliverAfter',
      /event\.deliverAfter/,
    );
    await refused(
      { id: 'a', event: { ...event, deliverAfter: 'a while' } },
      'event.deliverAfter',
      /not a duration/,
    );
    for (const timestamp of [
      'today',
      '2026-02-30',
      '2026-02-30T00:00:00Z',
      '2026-01-15T24:00:00Z',
      '2026-01-15 (x)',
    ])
      await refused({ id: 'a', event: { ...event, timestamp } }, 'event.timestamp', /not a date/);
    for (const deliverAt of ['2026-02-30', '2027-06-31T10:00:00+02:00'])
      await refused({ id: 'a', event: { ...event, deliverAt } }, 'event.deliverAt', /not a date/);
    // As sent on the wire, not as written in code.
    const own = JSON.parse('{"name":"order.created","__proto__":{"a":1}}') as object;
    await refused(
      { id: 'a', event: own },
      'event.__proto__',
      /not a valid event property.*"event\.__proto__"/,
    );
    await refused([], '', /expected object/);
    expect((await server.ask('/api/v1/events', { method: 'POST', body: '{' })).body).toEqual({
      error: 'Invalid JSON',
    });
    expect((await server.ask('/api/v1/events', { method: 'POST' })).status).toBe(400);
    expect((await server.ask('/api/v1/events')).body.data).toEqual([]);
    expect((await server.send('x'.repeat(255), event)).status).toBe(200);
  });

  test('is rejected if it is larger than 3 MB or too deeply nested', async () => {
    const server = await eventServer();
    await server.register({ big: { name: 'big' } });
    const payload = 'x'.repeat(3_145_000);
    const sent = await server.send('fits', { name: 'big', payload });
    expect(sent.status).toBe(200);
    expect((await server.ask(`/api/v3/runs/${sent.body.runs[0]}`)).body.payload).toBe(payload);
    expect((await server.send('large', { name: 'big', payload: 'x'.repeat(3_145_728) })).status).toBe(413);
    const deep = await server.ask('/api/v1/events', {
      method: 'POST',
      body: `{"id":"deep","event":{"name":"big","payload":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
    });
    expect([deep.status, deep.body.error]).toEqual([
      400,
      expect.stringMatching(/^event\.payload\.0: nested more than 1000 levels deep/),
    ]);
  });

  test('does not affect an event sent next to a deeply nested one', async () => {
    const server = await eventServer();
    await server.register({ deep: { name: 'deep' } });
    const body = `{"id":"deep","event":{"name":"deep","payload":${'{"a":'.repeat(999)}1${'}'.repeat(999)}}}`;
    const sendDeep = () => server.ask('/api/v1/events', { method: 'POST', body });
    const first = await sendDeep();
    expect([first.status, first.body.status]).toEqual([200, 'DELIVERED']);
    const answers = await Promise.all([
      sendDeep(),
      ...Array.from({ length: 20 }, (_, n) => server.send(`beside-${n}`, {})),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 21 }, () => 200));
    expect(answers[0]?.body).toMatchObject({ isDuplicate: true, isDifferent: false });
    expect((await server.ask(`/api/v3/runs/${first.body.runs[0]}`)).status).toBe(200);
    expect((await server.ask('/api/v1/events/deep/replay', { method: 'POST' })).status).toBe(200);
  });

  test('also applies to a version with an invalid subscription', async () => {
    const server = await eventServer();
    await expect(server.register({ mail: { name: 'a.b*' } })).rejects.toThrow(
      /The task mail in tasks.ts has an invalid event subscription/,
    );
  });
});

test('accepts the format of older clients', async () => {
  const server = await eventServer();
  await server.register({ mail: { name: 'order.created' } });
  const { status, body } = await server.ask('/api/v1/events', {
    method: 'POST',
    body: { event: { id: 'old', name: 'order.created', payload: 1 }, options: { deliverAfter: 60 } },
  });
  expect([status, body.id, body.status]).toEqual([200, 'old', 'PENDING']);
  expect(body.event).toMatchObject({ name: 'order.created', payload: 1, deliverAfter: 60 });
});

describe('a batch', () => {
  test('stores each event, in order, and none if one is invalid', async () => {
    const server = await eventServer();
    await server.register({ mail: { name: 'order.created' } });
    const batch = (events: unknown[]) =>
      server.ask('/api/v1/event-batches', { method: 'POST', body: { events } });
    const sent = await batch([
      { id: 'a', event: { name: 'order.created' } },
      { id: 'b', event: { name: 'else' } },
      { id: 'a', event: { name: 'order.created', payload: 1 } },
    ]);
    expect(sent.status).toBe(200);
    expect(sent.body.events).toMatchObject([
      { id: 'a', status: 'DELIVERED', isDuplicate: false },
      { id: 'b', status: 'UNMATCHED', isDuplicate: false },
      { id: 'a', status: 'DELIVERED', isDuplicate: true, isDifferent: true },
    ]);
    const wrong = await batch([{ id: 'c', event: {} }, { id: 'd' }]);
    expect([wrong.status, wrong.body.details[0].path]).toEqual([400, ['events', '1', 'event']]);
    expect((await server.ask('/api/v1/events/c')).status).toBe(404);
    expect((await batch([])).status).toBe(400);
    expect((await batch(Array.from({ length: 501 }, (_, n) => ({ id: `${n}`, event: {} })))).status).toBe(
      400,
    );
  });
});
