import { auth, ApiError, configure, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { breakable } from '../support/breakable.ts';
import { startProject } from '../support/project.ts';
import { sharedServer } from '../support/shared-server.ts';

const project = {
  'tasks/work.ts': `import { metadata, task } from '@millrace/sdk';
export const work = task({
  id: 'work',
  run: async ({ steps }: { steps: number }) => {
    for (let step = 1; step <= steps; step++) {
      await metadata.set('step', step);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { done: steps };
  },
});
`,
};

test('a run is followed to its end through cut connections, with a public token', async () => {
  const server = await sharedServer();
  const way = await breakable(server.port);
  configure({ baseURL: way.url, accessToken: server.keys.prod });
  const handle = await tasks.trigger('work', { steps: 12 });
  const started = startProject(server, project);
  const steps: number[] = [];
  let last: { status: string; output?: unknown; finishedAt?: Date | undefined } | undefined;
  await auth.withAuth({ baseURL: way.url, accessToken: handle.publicAccessToken }, async () => {
    for await (const run of runs.subscribeToRun(handle)) {
      const step = run.metadata?.['step'] as number | undefined;
      if (step !== undefined && step !== steps.at(-1)) steps.push(step);
      if (step !== undefined && step % 4 === 0) way.breakAll();
      last = run;
    }
  });
  await started;
  expect(last).toMatchObject({ status: 'COMPLETED', output: { done: 12 } });
  expect(last?.finishedAt).toBeInstanceOf(Date);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(steps.at(-1)).toBe(12);
});

test('runs with a tag are followed until the loop exits, and those of a batch until all have ended', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const [first] = (
    await Promise.all([
      tasks.trigger('work', { steps: 1 }, { tags: ['a', 'b'] }),
      tasks.trigger('work', { steps: 1 }, { tags: ['b'] }),
    ])
  ).map(({ id }) => id);
  const statuses: string[] = [];
  for await (const run of runs.subscribeToRunsWithTag(['a', 'b'], { skipColumns: ['payload'] })) {
    expect(run).not.toHaveProperty('payload');
    statuses.push(`${run.id} ${run.status}`);
    if (run.isCompleted || run.isCancelled) break;
    await runs.cancel(run.id);
  }
  expect(statuses).toEqual([`${first} PENDING_VERSION`, `${first} CANCELED`]);

  const { body: batch } = await server.ask('/api/v3/batches', { method: 'POST', body: { runCount: 2 } });
  const items = [0, 1].map((index) => ({ index, task: 'work', payload: '{"steps":1}', options: {} }));
  await server.ask(`/api/v3/batches/${batch.id}/items`, {
    method: 'POST',
    body: items.map((item) => JSON.stringify(item)).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const started = startProject(server, project);
  const last = new Map<string, string>();
  for await (const run of runs.subscribeToBatch(batch.id)) last.set(run.id, run.status);
  await started;
  expect([...last.values()]).toEqual(['COMPLETED', 'COMPLETED']);
});

test('a subscription ends with its signal, and throws errors that are not retryable', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const { id } = await tasks.trigger('work', { steps: 1 });
  const abort = new AbortController();
  let received = 0;
  for await (const run of runs.subscribeToRun(id, { signal: abort.signal })) {
    received += run.id === id ? 1 : 0;
    abort.abort();
  }
  expect(received).toBe(1);
  await expect(runs.subscribeToRun('run_none').next()).rejects.toThrow(ApiError);
});
