import { expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { sharedServer } from '../support/shared-server.ts';

const tasksOf = (release: string, more = '') => ({
  'tasks/order.ts': `
    import { task, tasks } from '@millrace/sdk';

    export const step = task({ id: 'step', run: async () => '${release}' });
    ${more}
    export const order = task({
      id: 'order',
      retry: { maxAttempts: 1 },
      run: async ({ current }: { current: string }) => {
        const alone = await step.triggerAndWait(undefined).unwrap();
        const { runs } = await step.batchTriggerAndWait([{ payload: undefined }, { payload: undefined, options: { version: current } }]);
        const chosen = await step.triggerAndWait(undefined, { version: current }).unwrap();
        const later = await step.trigger(undefined);
        const missing = await tasks.triggerAndWait('bill').then(String, (error) => error.message);
        return { alone, batch: runs.map((run) => run.output), chosen, later: later.id, missing };
      },
    });
  `,
});

test('runs that a run waits for start on its version, others on the current one', async () => {
  const server = await sharedServer();
  const current = async () => (await server.ask('/api/v1/deployments/current')).body.version as string;
  await startProject(server, tasksOf('one'));
  const first = await current();
  await startProject(
    server,
    tasksOf('two', "export const bill = task({ id: 'bill', run: async () => 'two' });"),
  );
  const two = await current();
  expect(two).not.toBe(first);

  const run = async (lockToVersion?: string) => {
    const body = { payload: { current: two }, options: { lockToVersion } };
    const triggered = await server.ask('/api/v1/tasks/order/trigger', { method: 'POST', body });
    return ended(triggered.body.id);
  };
  const ended = async (id: string) => {
    const read = async () => (await server.ask(`/api/v3/runs/${id}`)).body;
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('COMPLETED');
    return read();
  };

  const older = await run(first);
  expect(older.version).toBe(first);
  expect(older.output).toMatchObject({
    alone: 'one',
    batch: ['one', 'two'],
    chosen: 'two',
    missing: expect.stringContaining(
      `Version "${first}" has no task "bill". A run that its parent waits for`,
    ),
  });
  expect(await ended(older.output.later)).toMatchObject({ version: two, output: 'two' });
  expect((await run()).output).toMatchObject({ alone: 'two', batch: ['two', 'two'] });
}, 60_000);
