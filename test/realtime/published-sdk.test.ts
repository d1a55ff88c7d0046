import { auth, batch, configure, runs, tasks } from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { sharedServer } from '../support/shared-server.ts';

const project = {
  'tasks/work.ts': `import { metadata, task } from '@millrace/sdk';
export const work = task({
  id: 'work',
  run: async ({ n }: { n: number }) => {
    metadata.set('step', 1);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return { double: n * 2, at: new Date(0) };
  },
});
export const fails = task({ id: 'fails', retry: { maxAttempts: 1 }, run: async () => { throw new TypeError('no luck', { cause: new RangeError('too far', { cause: new Error('the root') }) }); } });
`,
};

test('the published SDK follows a run to its end: statuses, metadata, payload, output and tags', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const handle = await tasks.trigger('work', { n: 21 }, { tags: ['it"s {a}, \\tag', 'b'] });
  const seen: { status: string; step: unknown }[] = [];
  let last: Awaited<ReturnType<typeof runs.retrieve>> | undefined;
  const following = (async () => {
    for await (const run of runs.subscribeToRun(handle.id)) {
      seen.push({ status: run.status, step: (run.metadata as { step?: unknown } | undefined)?.step });
      last = run as never;
    }
  })();
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBeGreaterThan(0);
  await startProject(server, project);
  await following;
  expect(seen[0]).toEqual({ status: 'PENDING_VERSION', step: undefined });
  expect(seen.some(({ status, step }) => status === 'EXECUTING' && step === 1)).toBe(true);
  expect(last).toMatchObject({
    id: handle.id,
    status: 'COMPLETED',
    taskIdentifier: 'work',
    payload: { n: 21 },
    output: { double: 42 },
    tags: ['it"s {a}, \\tag', 'b'],
    isSuccess: true,
    metadata: { step: 1 },
  });
  expect(last?.finishedAt).toBeInstanceOf(Date);
});

test('the published SDK gets the error of a run, and can leave out columns', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const handle = await tasks.trigger('fails', { big: 'payload' });
  await startProject(server, project);
  let last: { status: string; error?: unknown; payload?: unknown } | undefined;
  for await (const run of runs.subscribeToRun(handle.id, { skipColumns: ['payload'] })) last = run;
  const error = {
    name: 'TypeError',
    message: 'no luck',
    causes: [
      {
        name: 'RangeError',
        message: 'too far',
        stackTrace: expect.stringContaining('tasks/work.ts') as string,
      },
      { name: 'Error', message: 'the root' },
    ],
  };
  expect(last).toMatchObject({ status: 'FAILED', error });
  expect(last?.payload).toBeUndefined();
  expect((await runs.retrieve(handle.id)).error).toMatchObject(error);
});

test('the published SDK follows the existing and new runs with a tag', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const first = await tasks.trigger('work', { n: 1 }, { tags: ['order:7', 'x'] });
  await tasks.trigger('work', { n: 2 }, { tags: ['other'] });
  const token = await auth.createPublicToken({ scopes: { read: { tags: ['order:7'] } } });
  const statuses = new Map<string, string>();
  const payloads = new Map<string, unknown>();
  const abort = new AbortController();
  const following = auth.withAuth({ accessToken: token, baseURL: server.url }, async () => {
    for await (const run of runs.subscribeToRunsWithTag(
      'order:7',
      { createdAt: '1h' },
      { signal: abort.signal },
    )) {
      statuses.set(run.id, run.status);
      payloads.set(run.id, run.payload);
    }
  });
  await expect.poll(() => statuses.get(first.id), { timeout: 20_000 }).toBe('PENDING_VERSION');
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const second = await tasks.trigger('work', { n: 3 }, { tags: ['order:7'] });
  await expect.poll(() => statuses.get(second.id), { timeout: 20_000 }).toBe('PENDING_VERSION');
  await runs.cancel(second.id);
  await expect.poll(() => statuses.get(second.id), { timeout: 20_000 }).toBe('CANCELED');
  expect([...statuses.keys()].toSorted()).toEqual([first.id, second.id].toSorted());
  expect(payloads.get(second.id)).toEqual({ n: 3 });
  abort.abort();
  await following.catch(() => {});
});

test('the published SDK follows the runs of a batch', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const created = await batch.trigger([
    { id: 'work', payload: { n: 1 } },
    { id: 'fails', payload: {} },
  ]);
  await startProject(server, project);
  const statuses = new Map<string, string>();
  for await (const run of runs.subscribeToBatch(created.batchId)) {
    statuses.set(run.taskIdentifier, run.status);
    if (statuses.get('work') === 'COMPLETED' && statuses.get('fails') === 'FAILED') break;
  }
  expect(Object.fromEntries(statuses)).toEqual({ work: 'COMPLETED', fails: 'FAILED' });
});
