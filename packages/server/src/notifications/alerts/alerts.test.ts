import { describe, expect, onTestFinished, test } from 'vitest';
import { promote } from '../../../../../test/support/promote.ts';
import { connect, type Sql } from '../../db/connect.ts';
import {
  notifyingServer,
  startNotifyingServer,
  task,
  type NotifyingServer,
} from '../testing/notifying-server.ts';
import { startReceiver, type Receiver } from '../testing/receiver.ts';

type WatchedServer = Awaited<ReturnType<typeof startNotifyingServer>> & { readonly sql: Sql };

const waiting = { timeout: 20_000, interval: 50 };
const textsOf = (receiver: Receiver): string[] =>
  receiver.received.map(({ body }) => (body as unknown as { text: string }).text);

interface Watched {
  readonly server: WatchedServer;
  readonly receiver: Receiver;
  /** The messages received by the chat. */
  texts(count: number): Promise<string[]>;
}

/** A server with a chat endpoint that accepts alerts. */
async function watched(): Promise<Watched> {
  const own = await startNotifyingServer();
  const sql = connect(own.database, { name: 'test', max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  const server = Object.assign(own, { sql });
  // An alert that is due by the server's clock is checked at once, not at the timer's next tick.
  const waking = setInterval(() => own.wakeJobs(['alert evaluator']), 100);
  onTestFinished(() => clearInterval(waking));
  const receiver = await startReceiver();
  expect((await server.add({ kind: 'slack', url: `${receiver.url}/chat` })).status).toBe(200);
  return {
    server,
    receiver,
    async texts(count) {
      await expect.poll(() => receiver.received.length, waiting).toBe(count);
      return textsOf(receiver);
    },
  };
}

async function added(server: NotifyingServer, body: object) {
  const answer = await server.alerts('', 'POST', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

const retrieve = async (server: NotifyingServer, id: string) => (await server.alerts(`/${id}`)).body;

describe('new and regressed error groups', () => {
  test('are sent immediately in one message, and in another after the quiet period', async () => {
    const { server, texts } = await watched();
    await server.deploy();
    const { id } = await added(server, { kind: 'error.new', name: 'Errors', quiet: '10m' });
    await server.fail('first > & second');
    const [first] = await texts(1);
    expect(first).toMatch(
      /^\[.+ prod\] Errors: 1 new error group\n• TypeError: first &gt; &amp; second \(task charge, error_[0-9a-f]{16}\)$/,
    );
    for (const word of ['apple', 'banana', 'cherry']) await server.fail(`another ${word}`);
    await expect.poll(async () => (await server.ask('/api/v1/errors')).body.data.length, waiting).toBe(4);
    server.shiftTime(60_000);
    await expect.poll(async () => (await stored(server)).message_pending, waiting).toBe(true);
    await texts(1);
    server.shiftTime(9 * 60_000);
    const [, second] = await texts(2);
    expect(second).toMatch(/ prod\] Errors: 3 new error groups\n(• TypeError: another \w+ .*\n?){3}$/);
    expect(await retrieve(server, id)).toMatchObject({
      state: 'OK',
      lastSentAt: expect.any(String),
      subjects: [],
    });
    // They are webhook deliveries like any other.
    expect((await server.notifications('/deliveries?filter[type]=alert.firing')).body.data).toHaveLength(2);
  }, 40_000);

  test('count only for their task, and only if enough occur within the window', async () => {
    const { server, texts, receiver } = await watched();
    await server.deploy();
    await added(server, { kind: 'error.new', task: 'another' });
    await added(server, { kind: 'error.new', task, threshold: 3, window: '5m' });
    for (const word of ['apple', 'banana']) await server.fail(`one ${word}`);
    await expect.poll(async () => (await events(server)).length, waiting).toBe(2);
    // By then these two are too old, as is the runner's connection.
    server.shiftTime(6 * 60_000);
    await expect.poll(async () => (await events(server)).length, waiting).toBe(0);
    await server.deploy();
    for (const word of ['cherry', 'damson', 'elder']) await server.fail(`two ${word}`);
    expect((await texts(1))[0]).toContain('3 new error groups');
    expect(receiver.received).toHaveLength(1);
  }, 40_000);

  test('are limited to owners: of the task, or of the group once it is assigned', async () => {
    const { server, texts, receiver } = await watched();
    await server.deploy('@payments');
    await added(server, { kind: 'error.new', name: 'Payments', owners: ['@mail', '@Payments'] });
    await added(server, { kind: 'error.new', name: 'Mail', owners: ['@mail'] });
    await added(server, { kind: 'error.regressed', name: 'Mail again', owners: ['@mail'] });
    await server.fail('boom');
    expect((await texts(1))[0]).toContain('Payments: 1 new error group');
    const [{ id }] = (await server.ask('/api/v1/errors')).body.data;
    await server.ask(`/api/v1/errors/${id}/assign`, { method: 'POST', body: { assignee: '@mail' } });
    await server.ask(`/api/v1/errors/${id}/resolve`, { method: 'POST', body: {} });
    server.shiftTime(1_000);
    await server.fail('boom');
    expect((await texts(2))[1]).toContain('Mail again: 1 resolved error group occurred again');
    expect(receiver.received).toHaveLength(2);

    const rejected = await server.alerts('', 'POST', { kind: 'queue.age', owners: ['@mail'] });
    expect([rejected.status, rejected.body.error]).toEqual([400, expect.stringContaining('owners:')]);
    const invalid = await server.alerts('', 'POST', { kind: 'error.new', owners: ['a b'] });
    expect([invalid.status, invalid.body.error]).toEqual([400, expect.stringContaining('owners')]);
  }, 40_000);

  test('include a resolved group that occurs again', async () => {
    const { server, texts } = await watched();
    await server.deploy();
    await server.fail('boom');
    await expect.poll(async () => (await server.ask('/api/v1/errors')).body.data.length, waiting).toBe(1);
    const [{ id }] = (await server.ask('/api/v1/errors')).body.data;
    await added(server, { kind: 'error.regressed' });
    await server.ask(`/api/v1/errors/${id}/resolve`, { method: 'POST', body: {} });
    server.shiftTime(1_000);
    await server.fail('boom');
    expect((await texts(1))[0]).toContain('1 resolved error group occurred again');
  }, 40_000);
});

test('a task with too many failed runs is reported once, as is its recovery', async () => {
  const { server, texts, receiver } = await watched();
  await server.deploy();
  const { id } = await added(server, {
    kind: 'task.failureRate',
    threshold: 50,
    minRuns: 3,
    window: '5m',
    quiet: '1h',
  });
  await server.fail('boom');
  await server.fail('boom');
  await flushed(server, 2);
  server.shiftTime(15_000);
  await checked(server);
  expect(receiver.received).toEqual([]);
  await server.fail('boom');
  await flushed(server, 3);
  server.shiftTime(11_000);
  await checked(server);
  // The condition must hold for the window.
  expect((await retrieve(server, id)).subjects).toMatchObject([
    { subject: task, value: 100, notified: false },
  ]);
  server.shiftTime(2 * 60_000);
  await server.deploy();
  for (let n = 0; n < 3; n++) await server.fail('boom');
  await flushed(server, 5);
  server.shiftTime(3 * 60_000);
  expect((await texts(1))[0]).toMatch(
    /1 task with more than 50 % failed runs within 5m\n• Task charge: 100 % of \d runs failed within 5m$/,
  );
  expect(await retrieve(server, id)).toMatchObject({ state: 'FIRING', subjects: [{ notified: true }] });
  server.shiftTime(8 * 60_000);
  await checked(server);
  server.shiftTime(6 * 60_000);
  const [, over] = await texts(2);
  expect(over).toMatch(/Resolved after \w+: no more than 50 % of runs fail\n• Task charge$/);
  expect(await retrieve(server, id)).toMatchObject({ state: 'OK', subjects: [] });
  server.shiftTime(30_000);
  await checked(server);
  expect(receiver.received).toHaveLength(2);
}, 60_000);

test('reports runs that no runner can execute, and queues with runs that wait too long', async () => {
  const { server, texts, receiver } = await watched();
  const { body } = await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'content-without-runner', tasks: [{ id: task, filePath: 'a.ts' }] },
  });
  await promote(server.url, server.keys.prod, body.version);
  const runner = await added(server, { kind: 'runner.none', window: '0s', threshold: 60 });
  await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: {} });
  server.shiftTime(30_000);
  await checked(server);
  expect(receiver.received).toEqual([]);
  server.shiftTime(31_000);
  expect((await texts(1))[0]).toMatch(
    /Runs are waiting, and no runner can execute them\n• The current version: no connected runner can execute it; the oldest run has waited 1m/,
  );
  await server.alerts(`/${runner.id}`, 'PATCH', { enabled: false });
  const age = await added(server, { kind: 'queue.age', queue: `task/${task}`, window: '0s', threshold: 90 });
  await added(server, { kind: 'queue.age', queue: 'another', window: '0s', threshold: 1 });
  server.shiftTime(60_000);
  expect((await texts(2))[1]).toMatch(
    /1 queue with runs that have waited for more than 1m30s\n• Queue task\/charge: the oldest run has waited \w+$/,
  );
  // Its run is claimed by a connecting runner.
  await server.deploy();
  await server.ask(`/api/v1/queues/${encodeURIComponent(`task/${task}`)}`);
  server.shiftTime(20_000);
  expect((await texts(3))[2]).toMatch(
    /Resolved after \w+: no run has waited for more than 1m30s\n• Queue task\/charge$/,
  );
  expect(await retrieve(server, age.id)).toMatchObject({ state: 'OK' });
}, 60_000);

test('reports a schedule that missed its ticks', async () => {
  const { server, texts } = await watched();
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'content-scheduled', tasks: [{ id: 'report', filePath: 'r.ts', scheduled: true }] },
  });
  await promote(server.url, server.keys.prod);
  await added(server, { kind: 'schedule.missed', task: 'report' });
  await server.ask('/api/v1/schedules', {
    method: 'POST',
    body: { task: 'report', cron: '*/5 * * * *', deduplicationKey: 'k', missed: 'skip' },
  });
  server.shiftTime(3_600_000);
  expect((await texts(1))[0]).toMatch(
    /Schedules missed their ticks once\n• Schedule sched_\w+ of the task report: no run from .* to .*, because no server was running$/,
  );
}, 40_000);

test('only the endpoints of an alert are notified, and they cannot be deleted', async () => {
  const { server, receiver } = await watched();
  const other = await startReceiver();
  const { id: endpoint } = await server.endpoint(other.url, ['run.failed']);
  await server.deploy();
  const { id } = await added(server, { kind: 'error.new', endpoints: [endpoint] });
  await server.fail('boom');
  await expect.poll(() => other.types(), waiting).toContain('alert.firing');
  expect(receiver.received).toEqual([]);
  const message = other.received.find(({ body }) => body.type === 'alert.firing');
  expect(message?.body.data).toMatchObject({
    id,
    kind: 'error.new',
    summary: '1 new error group',
    count: 1,
    items: [{ taskIdentifier: task, errorMessage: 'boom', text: expect.any(String) }],
  });
  expect(await server.notifications(`/endpoints/${endpoint}`, 'DELETE')).toMatchObject({ status: 409 });
  expect((await server.alerts(`/${id}`, 'DELETE')).status).toBe(200);
  expect((await server.notifications(`/endpoints/${endpoint}`, 'DELETE')).status).toBe(200);
}, 40_000);

test('invalid input is rejected with the field and the fix', async () => {
  const server = await notifyingServer();
  const cases: [body: object, status: number, message: RegExp][] = [
    [{}, 400, /kind/],
    [{ kind: 'x' }, 400, /kind/],
    [{ kind: 'error.new', queue: 'q' }, 400, /^queue: not allowed for an alert/],
    [{ kind: 'queue.age', task: 'q' }, 400, /^task: not allowed for an alert/],
    [{ kind: 'runner.none', minRuns: 3 }, 400, /^minRuns: /],
    [{ kind: 'task.failureRate', threshold: 101 }, 400, /^threshold: must be from 0\.1 to 100/],
    [{ kind: 'error.new', threshold: 1.5 }, 400, /^threshold: must be a whole number/],
    [{ kind: 'error.new', window: '5 minutes' }, 400, /is not a duration.* at "window"/],
    [{ kind: 'error.new', window: '1s' }, 400, /^window: must be from 1m to 1d/],
    [{ kind: 'error.new', quiet: '1s' }, 400, /must be from 1m to 7d at "quiet"/],
    [{ kind: 'error.new', endpoints: [] }, 400, /endpoints/],
    [{ kind: 'error.new', endpoints: ['endpoint_none'] }, 422, /no endpoint endpoint_none/],
    [{ kind: 'error.new', endpoints: ['a\0'] }, 400, /NUL.*endpoints/],
    [{ kind: 'error.new', task: 'a\0' }, 400, /task/],
    [{ kind: 'error.new', name: ' ' }, 400, /name/],
  ];
  for (const [body, status, message] of cases) {
    const answer = await server.alerts('', 'POST', body);
    expect([answer.status, answer.body.error], JSON.stringify(body)).toEqual([
      status,
      expect.stringMatching(message),
    ]);
  }
  const { id } = await added(server, { kind: 'queue.age' });
  expect(await server.alerts(`/${id}`, 'PATCH', { minRuns: 5 })).toMatchObject({ status: 400 });
  expect(await server.alerts(`/${id}`, 'PATCH', { window: '2d' })).toMatchObject({ status: 400 });
  expect((await server.alerts('/alert_none')).status).toBe(404);
  expect((await server.alerts('/a%00', 'DELETE')).status).toBe(404);
  for (let n = 1; n < 50; n++) await added(server, { kind: 'queue.age' });
  expect(await server.alerts('', 'POST', { kind: 'queue.age' })).toMatchObject({ status: 422 });
});

/** The only existing alert, in its stored form. */
async function stored(server: WatchedServer): Promise<{ message_pending: boolean }> {
  return (
    (await read<{ message_pending: boolean }>(server, 'select message_pending from alerts'))[0] ?? {
      message_pending: false,
    }
  );
}
const events = (server: WatchedServer) => read<{ id: string }>(server, 'select id::text from alert_events');

/** Waits until every alert has been checked again. */
async function checked(server: WatchedServer): Promise<void> {
  const [before] = await read<{ at: Date }>(server, 'select max(next_at) as at from alerts where enabled');
  await expect
    .poll(async () => {
      const [least] = await read<{ at: Date }>(server, 'select min(next_at) as at from alerts where enabled');
      return (least?.at.getTime() ?? 0) > (before?.at.getTime() ?? 0);
    }, waiting)
    .toBe(true);
}

/** Waits until the roll-ups have at least this many failed runs. */
async function flushed(server: WatchedServer, count: number): Promise<void> {
  const text = `select coalesce(sum(failed), 0)::int as n from run_stats where width = 1 and series = 'a'`;
  await expect
    .poll(async () => (await read<{ n: number }>(server, text))[0]?.n, waiting)
    .toBeGreaterThanOrEqual(count);
}

const read = <R extends object>({ sql }: WatchedServer, text: string): Promise<R[]> => sql.unsafe<R[]>(text);
