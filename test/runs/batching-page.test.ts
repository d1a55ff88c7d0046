/** A new user follows docs/batching.md: its task, commands and code, next to `millrace dev`. */
import { events, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';

const blocks = await blocksOf('batching.md');
const [task = ''] = blocks('ts');
const [commands = ''] = blocks('sh');

const { cli } = besideDev({
  // Makes the speed of the commands irrelevant.
  'tasks/index.ts': task.replace("maxSize: 100, maxWait: '5s'", "maxSize: 2, maxWait: '1h'"),
  'tasks/other.ts': `
    import { event, task, tasks } from '@millrace/sdk';
    export const waits = task({
      id: 'waits',
      run: async ({ n }: { n: number }) => tasks.triggerAndWait('adds', n).unwrap(),
    });
    export const soon = task({
      id: 'soon',
      batch: { maxSize: 100, maxWait: 0.1 },
      run: async (numbers: number[]) => numbers,
    });
    export const adds = task({
      id: 'adds',
      batch: { maxSize: 3, maxWait: '1m' },
      on: event({ name: 'number' }),
      run: async (numbers: number[]) => numbers.toSorted(),
    });`,
});

test('its commands create one run, which is shown as collecting and receives the array', async () => {
  const ids: string[] = [];
  for (const line of commands.trim().split('\n')) {
    const [, payload = ''] = /--payload '(.*)'/.exec(line) ?? [];
    const { exitCode, stdout } = await cli('trigger', 'index-documents', '--payload', payload);
    expect(exitCode).toBe(0);
    ids.push(stdout.trim());
  }
  expect(ids[0]).toMatch(/^run_/);
  expect(ids[1]).toBe(ids[0]);
  const run = await runs.poll(ids[0]!, { pollIntervalMs: 50 });
  expect(run).toMatchObject({
    status: 'COMPLETED',
    payload: [{ id: 'd-1' }, { id: 'd-2' }],
    output: ['d-1', 'd-2'],
  });
  const keyed = await cli(
    'trigger',
    'index-documents',
    '--payload',
    '{"id": "d-4"}',
    '--batch-key',
    'customer-1',
  );
  const other = await tasks.trigger('index-documents', { id: 'd-5' });
  expect(other.id).not.toBe(keyed.stdout.trim());
  expect((await cli('why', other.id)).stdout).toContain('It collects trigger payloads until');
}, 60_000);

test('concurrent calls are added in order, and a full run starts immediately', async () => {
  const handles = await Promise.all([3, 1, 2].map((n) => tasks.trigger('adds', n, { batchKey: 'moment' })));
  expect(new Set(handles.map(({ id }) => id)).size).toBe(1);
  expect(await runs.poll(handles[0]!.id, { pollIntervalMs: 50 })).toMatchObject({
    payload: [3, 1, 2],
    output: [1, 2, 3],
  });
});

test('a run starts when its wait time has passed', async () => {
  const { id } = await tasks.trigger('soon', 1);
  expect(await runs.poll(id, { pollIntervalMs: 50 })).toMatchObject({ status: 'COMPLETED', output: [1] });
});

test('all waiting callers get its output', async () => {
  const waiting = await Promise.all([3, 2, 1].map((n) => tasks.trigger('waits', { n })));
  for (const { id } of waiting)
    expect(await runs.poll(id, { pollIntervalMs: 50 })).toMatchObject({
      status: 'COMPLETED',
      output: [1, 2, 3],
    });
}, 30_000);

test('events are added like triggers', async () => {
  await events.send({ name: 'number', payload: 5 });
  const [run] = (await runs.list({ taskIdentifier: 'adds', status: 'DELAYED' })).data;
  for (const payload of [6, 4]) expect((await tasks.trigger('adds', payload)).id).toBe(run!.id);
  expect(await runs.poll(run!.id, { pollIntervalMs: 50 })).toMatchObject({ output: [4, 5, 6] });
}, 20_000);

test('items of batches are rejected', async () => {
  await expect(tasks.batchTrigger('adds', [{ payload: 1 }])).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(
      /^422 Invalid item at index 0: the task "adds" collects single triggers in batches of its own; use trigger, not batchTrigger\. See: millrace help invalid-value$/,
    ) as string,
  });
});
