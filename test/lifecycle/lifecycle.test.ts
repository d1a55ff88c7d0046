/** Hooks, metadata and retries in real executor processes, and tokens of handles, against a real server. */
import { configure, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const files = {
  'tasks/init.ts': `
    import { locals, metadata, tasks } from '@millrace/sdk';
    export const clock = locals.create<string>('clock');
    tasks.middleware('clock', async ({ next }) => {
      locals.set(clock, 'ticking');
      await next();
      metadata.append('calls', 'middleware');
    });
    tasks.onFailure(({ error }) => metadata.append('calls', 'all: ' + (error as Error).message));
  `,
  'tasks/order.ts': `
    import { locals, metadata, retry, task } from '@millrace/sdk';
    import { clock } from './init.ts';
    export const order = task({
      id: 'order',
      retry: { maxAttempts: 2, minTimeoutInMs: 1 },
      onStart: ({ ctx }) => metadata.set('started', ctx.run.startedAt.getTime()),
      onStartAttempt: ({ ctx }) => metadata.append('calls', 'attempt ' + ctx.attempt.number),
      run: async (payload: { fail: boolean }, { ctx }) => {
        for (let n = 0; n < 500; n += 1) metadata.increment('count');
        metadata.set('clock', locals.getOrThrow(clock));
        const tries = await retry.onThrow(
          async ({ attempt }) => {
            if (attempt < 3) throw new Error('not yet');
            return attempt;
          },
          { minTimeoutInMs: 1 },
        );
        if (payload.fail) throw new Error('no stock');
        return { tries, first: ctx.run.startedAt.getTime(), count: metadata.current()['count'] };
      },
      onSuccess: ({ output }) => metadata.append('calls', 'success ' + output.tries),
      onFailure: ({ error }) => metadata.append('calls', 'own: ' + (error as Error).message),
      onComplete: ({ result }) => metadata.append('calls', 'complete ' + result.ok),
    });
    export const parent = task({
      id: 'parent',
      run: async () => {
        const results = await Promise.all([1, 2, 3].map(() => child.triggerAndWait()));
        return results.every((result) => result.ok);
      },
    });
    export const child = task({
      id: 'child',
      run: async () => {
        metadata.parent.increment('done');
        metadata.root.append('children', 'x');
      },
    });
    export const slow = task({
      id: 'slow',
      run: (_: void, { signal }) =>
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      onStartAttempt: () => metadata.set('running', true),
      onCancel: () => metadata.set('canceled', true),
    });
  `,
};

test('calls hooks, retains metadata of every attempt, and has the first start time of a run', async () => {
  const server = await testServer();
  await startProject(server, files);
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  const poll = { pollIntervalMs: 50 };

  const done = await runs.poll(await tasks.trigger('order', { fail: false }), poll);
  expect(done).toMatchObject({
    status: 'COMPLETED',
    output: { tries: 3, count: 500 },
    metadata: {
      count: 500,
      clock: 'ticking',
      calls: ['attempt 1', 'success 3', 'complete true', 'middleware'],
    },
  });
  expect(done.metadata?.['started']).toBe((done.output as { first: number }).first);

  const failed = await runs.poll(await tasks.trigger('order', { fail: true }), poll);
  expect(failed).toMatchObject({
    status: 'FAILED',
    attemptCount: 2,
    metadata: {
      count: 1_000,
      calls: [
        'attempt 1',
        'middleware',
        'attempt 2',
        'all: no stock',
        'own: no stock',
        'complete false',
        'middleware',
      ],
    },
  });

  const parent = await runs.poll(await tasks.trigger('parent', undefined), poll);
  expect(parent).toMatchObject({
    status: 'COMPLETED',
    output: true,
    metadata: { done: 3, children: ['x', 'x', 'x'] },
  });

  const slow = await tasks.trigger('slow', undefined);
  const metadataOf = async () => (await runs.retrieve(slow)).metadata;
  await expect.poll(metadataOf, { timeout: 20_000 }).toEqual({ running: true });
  await runs.cancel(slow);
  expect(await runs.poll(slow, poll)).toMatchObject({
    status: 'CANCELED',
    metadata: { running: true, canceled: true },
  });
}, 90_000);

test('gives each handle of a batch of triggers a token for its own run', async () => {
  const server = await testServer();
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  const handles = await Promise.all([1, 2, 3].map((n) => tasks.trigger('echo', n)));
  const [first, second] = handles;
  expect(new Set(handles.map((handle) => handle.publicAccessToken)).size).toBe(3);
  const read = (id = '', key = '') => server.ask(`/api/v3/runs/${id}`, { key });
  expect((await read(first?.id, first?.publicAccessToken)).body.id).toBe(first?.id);
  expect((await read(second?.id, first?.publicAccessToken)).status).toBe(403);
});

test('sends callers without access to a run the same response whether it exists or not', async () => {
  const server = await testServer();
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  const { id } = await tasks.trigger('echo', 1);
  const token = async (scope: string) => {
    const { body } = await server.ask('/api/v1/auth/public-tokens', {
      method: 'POST',
      body: { scopes: [scope] },
    });
    return body.token as string;
  };
  const read = async (run: string, scope: string) => {
    const { status, body } = await server.ask(`/api/v3/runs/${run}`, { key: await token(scope) });
    return [status, status === 200 ? undefined : body.error];
  };
  for (const scope of ['read:tasks:other', 'read:runs:run_other', 'read:errors']) {
    expect([scope, await read(id, scope)]).toEqual([scope, await read('run_none', scope)]);
    expect((await read(id, scope))[0]).toBe(403);
  }
  expect(await read(id, 'read:tasks:echo')).toEqual([200, undefined]);
  expect((await read('run_none', 'read:runs'))[0]).toBe(404);
});
