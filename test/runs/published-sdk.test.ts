/** The published SDK's runs, tags, metadata and queues against a real server. */
import { apiClientManager } from '@trigger.dev/core/v3';
import { configure, queues, runs, tasks } from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';
import { promote } from '../support/promote.ts';

async function serverWithTasks(): Promise<SharedServer> {
  const server = await sharedServer();
  const registered = await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: {
      contentHash: 'content-1',
      tasks: [
        { id: 'echo', filePath: 'tasks/echo.ts' },
        { id: 'mail', filePath: 'tasks/mail.ts', queue: { name: 'mail', concurrencyLimit: 2 } },
      ],
    },
  });
  expect(registered.status).toBe(200);
  await promote(server.url, server.keys.prod);
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  return server;
}

test('lists runs by every filter it has, page by page and as one iteration', async () => {
  await serverWithTasks();
  const created: string[] = [];
  for (let n = 0; n < 5; n++) {
    const { id } = await tasks.trigger(
      n % 2 === 0 ? 'echo' : 'mail',
      { n },
      { tags: [`n:${n}`, 'all'], machine: 'micro' },
    );
    created.unshift(id);
  }
  const all = await runs.list({ limit: 10 });
  expect(all.data.map((run) => run.id)).toEqual(created);
  expect(all.data[0]).toMatchObject({
    status: 'QUEUED',
    taskIdentifier: 'echo',
    env: { name: 'prod' },
    isQueued: true,
  });

  const first = await runs.list({ limit: 2, tag: 'all' });
  const second = await first.getNextPage();
  expect([...first.data, ...second.data].map((run) => run.id)).toEqual(created.slice(0, 4));
  expect((await second.getPreviousPage()).data.map((run) => run.id)).toEqual(created.slice(0, 2));
  const iterated: string[] = [];
  for await (const run of runs.list({ limit: 2 })) iterated.push(run.id);
  expect(iterated).toEqual(created);

  const ids = async (filter: Parameters<typeof runs.list>[0]) =>
    (await runs.list(filter as never)).data.map((run: { id: string }) => run.id);
  expect(await ids({ status: ['QUEUED', 'FAILED'], taskIdentifier: 'mail' })).toEqual([
    created[1],
    created[3],
  ]);
  expect(await ids({ queue: { type: 'task', name: 'echo' } })).toEqual([created[0], created[2], created[4]]);
  expect(await ids({ queue: [{ type: 'custom', name: 'mail' }] })).toEqual([created[1], created[3]]);
  expect(await ids({ tag: ['n:0', 'n:3'] })).toEqual([created[1], created[4]]);
  expect(await ids({ machine: 'micro', isTest: false, period: '1h' })).toEqual(created);
  expect(await ids({ from: new Date(Date.now() + 60_000), to: Date.now() + 120_000 })).toEqual([]);
  expect(await ids({ version: '19990101.1' })).toEqual([]);
  expect(await ids({ batch: 'batch_1' })).toEqual([]);
  expect(await ids({ schedule: 'sched_1' })).toEqual([]);
  await expect(runs.list({ status: 'NONE' as never })).rejects.toMatchObject({ status: 400 });
});

test('lists the runs of a project with a personal access token', async () => {
  const server = await serverWithTasks();
  const prod = await tasks.trigger('echo', 1);
  configure({ baseURL: server.url, accessToken: server.keys.stg });
  const staging = await tasks.trigger('echo', 2);
  configure({ baseURL: server.url, accessToken: server.personalAccessToken });
  const all = await runs.list(server.projectRef, {});
  expect(all.data.map((run) => [run.id, run.env.name])).toEqual([
    [staging.id, 'stg'],
    [prod.id, 'prod'],
  ]);
  expect((await runs.list(server.projectRef, { env: 'staging' })).data.map((run) => run.id)).toEqual([
    staging.id,
  ]);
  await expect(runs.list('proj_unknown', {})).rejects.toMatchObject({ status: 404 });
});

test('replays, reschedules and cancels', async () => {
  await serverWithTasks();
  const { id } = await tasks.trigger('echo', { when: new Date(0) }, { tags: ['a'] });
  await runs.cancel(id);
  const { id: again } = await runs.replay(id);
  expect(await runs.retrieve(again)).toMatchObject({
    status: 'QUEUED',
    payload: { when: '1970-01-01T00:00:00.000Z' },
    tags: ['a'],
  });
  const other = await runs.replay(id, { payload: { n: 1 } } as never);
  expect((await runs.retrieve(other.id)).payload).toEqual({ n: 1 });

  const late = await tasks.trigger('echo', 1, { delay: '1h' });
  const moved = await runs.reschedule(late.id, { delay: new Date('2999-01-01') });
  expect(moved).toMatchObject({ status: 'DELAYED', delayedUntil: new Date('2999-01-01') });
  await expect(runs.reschedule(again, { delay: '1h' })).rejects.toMatchObject({ status: 422 });
  await expect(runs.reschedule(late.id, { delay: 'soon' })).rejects.toMatchObject({ status: 400 });
});

test('adds tags and changes metadata, as code inside a task does', async () => {
  await serverWithTasks();
  const { id } = await tasks.trigger('echo', 1, { metadata: { step: 1 } });
  const client = apiClientManager.clientOrThrow();
  expect(await client.addTags(id, { tags: ['a', 'b'] })).toEqual({ message: 'Successfully set 2 new tags.' });
  expect(await client.addTags(id, { tags: 'a' })).toEqual({ message: 'No new tags to add' });
  expect(
    await client.updateRunMetadata(id, { operations: [{ type: 'increment', key: 'step', value: 2 }] }),
  ).toEqual({ metadata: { step: 3 } });
  expect(await client.getRunMetadata(id)).toEqual({ metadata: { step: 3 } });
  expect(await runs.retrieve(id)).toMatchObject({ tags: ['a', 'b'], metadata: { step: 3 } });
});

test('reads queues, pauses them and changes their limits', async () => {
  await serverWithTasks();
  await tasks.trigger('mail', 1);
  const { data } = await queues.list({ page: 1, perPage: 10 });
  expect(data.map((queue) => [queue.type, queue.name])).toEqual([
    ['custom', 'mail'],
    ['task', 'echo'],
  ]);
  const mail = { type: 'custom', name: 'mail' } as const;
  const found = await queues.retrieve(mail);
  expect(found).toMatchObject({ queued: 1, running: 0, paused: false, concurrencyLimit: 2 });
  expect(await queues.retrieve(found.id)).toMatchObject({ name: 'mail' });
  expect((await queues.pause(mail)).paused).toBe(true);
  expect((await queues.resume(mail)).paused).toBe(false);
  expect(await queues.overrideConcurrencyLimit(mail, 7)).toMatchObject({
    concurrency: { current: 7, base: 2 },
  });
  expect(await queues.resetConcurrencyLimit(mail)).toMatchObject({
    concurrency: { current: 2, override: null },
  });
  await expect(queues.retrieve({ type: 'task', name: 'none' })).rejects.toMatchObject({ status: 404 });
  await tasks.trigger('echo', 1, { queue: 'team/mail' });
  expect(await queues.retrieve({ type: 'custom', name: 'team/mail' })).toMatchObject({ queued: 1 });
  expect((await queues.pause({ type: 'custom', name: 'team/mail' })).paused).toBe(true);
});

test('cancels and replays many runs, and reports progress', async () => {
  const server = await serverWithTasks();
  const created = await Promise.all([1, 2, 3].map((n) => tasks.trigger('echo', { n }, { tags: 'many' })));
  await tasks.trigger('mail', {});
  // A filter matches runs that were created before the millisecond of the request.
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { id } = await runs.bulk.cancel({ filter: { tag: 'many', status: 'QUEUED' }, name: 'wrong file' });
  const over = await runs.bulk.poll(id, { pollIntervalMs: 50 });
  expect(over).toMatchObject({
    type: 'CANCEL',
    status: 'COMPLETED',
    name: 'wrong file',
    counts: { total: 3, success: 3, failure: 0 },
  });
  const ids = created.map((run) => run.id).toSorted();
  expect((await runs.list({ bulkAction: id })).data.map((run) => run.id).toSorted()).toEqual(ids);
  expect((await runs.list({ status: 'CANCELED' })).data).toHaveLength(3);

  const replayed = await runs.bulk.replay({ runIds: ids.slice(0, 2) });
  expect(await runs.bulk.poll(replayed.id, { pollIntervalMs: 50 })).toMatchObject({ counts: { success: 2 } });
  const copies = (await runs.list({ bulkAction: replayed.id })).data;
  expect(copies).toHaveLength(2);
  const { body: copy } = await server.ask(`/api/v3/runs/${copies[0]?.id}`);
  expect(ids).toContain(copy.replayOf);
  expect((await runs.bulk.list({ limit: 1 })).data.map((action) => action.id)).toEqual([replayed.id]);
  await expect(runs.bulk.abort(id)).rejects.toMatchObject({ status: 422 });
  await expect(runs.bulk.retrieve('bulk_none')).rejects.toMatchObject({ status: 404 });

  const refused = async (body: unknown) => {
    const reply = await server.ask('/api/v1/bulk-actions', { method: 'POST', body });
    return [reply.status, reply.body.error] as const;
  };
  const wrong: readonly (readonly [body: unknown, says: RegExp])[] = [
    [{ action: 'cancel' }, /either filter or runIds/],
    [{ action: 'cancel', filter: { tag: 'a' }, runIds: ['run_1'] }, /either filter or runIds/],
    [{ action: 'cancel', filter: {} }, /at least one/],
    [{ action: 'cancel', filter: { tags: 'a' } }, /tags/],
    [{ action: 'cancel', filter: { status: 'NONE' } }, /status/],
    [{ action: 'cancel', filter: { period: '7 days' } }, /period/],
    [{ action: 'delete', runIds: ['run_1'] }, /action/],
    [{ action: 'replay', runIds: [] }, /runIds/],
    [{ action: 'replay', runIds: Array.from({ length: 501 }, (_, n) => `run_${n}`) }, /500/],
    [{ action: 'replay', runIds: ['run_1'], targetRegion: 'eu' }, /region/],
  ];
  for (const [body, says] of wrong) {
    expect([JSON.stringify(body).slice(0, 60), ...(await refused(body))]).toEqual([
      JSON.stringify(body).slice(0, 60),
      400,
      expect.stringMatching(says),
    ]);
  }
  expect((await server.ask('/api/v1/bulk-actions?page[after]=x')).status).toBe(400);
}, 30_000);
