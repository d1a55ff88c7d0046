/** A new user follows docs/concurrency.md: its tasks, commands and code, next to `millrace dev`. */
import { queues, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';

const blocks = await blocksOf('concurrency.md');
const [resize = '', reports = '', sync = '', , provider = '', change = ''] = blocks('ts');
const [start = '', environment = '', overrides = '', pauses = ''] = blocks('sh');

// Its runs last longer than a command takes to start on a slow machine.
const { cli, printed } = besideDev({
  'tasks/resize.ts': resize.replace('1_000', '60_000'),
  'tasks/reports.ts': reports,
  'tasks/sync.ts': sync,
  'tasks/provider.ts': provider,
});

const own = { type: 'task', name: 'resize' } as const;

test('the first two runs of the example execute, and the third waits for the limit', async () => {
  await printed(start);
  await expect
    .poll(async () => (await cli('queues', 'list')).stdout, { timeout: 20_000, interval: 200 })
    .toMatch(/task\/resize +2 +1 +2/);
  const [waiting] = (await runs.list({ status: ['QUEUED'] })).data;
  expect((await cli('why', waiting!.id)).stdout).toMatch(/^QUEUED .*task\/resize/);
  await runs.bulk.cancel({ filter: { taskIdentifier: ['resize'] } });
}, 60_000);

test('the commands change limits of queues, of shared limits and of the environment', async () => {
  const { concurrencyLimit } = await queues.environment();
  expect(concurrencyLimit).toBeNull();
  const [limited = '', unlimited = ''] = (await printed(environment)).trim().split('\n');
  expect([limited, unlimited]).toEqual([
    expect.stringContaining('limit 50'),
    expect.stringContaining('limit none'),
  ]);
  const changed = (await printed(overrides)).trim().split('\n');
  expect(changed).toEqual([
    expect.stringContaining('limit 5'),
    expect.stringContaining('limit 2'),
    expect.stringContaining('20'),
    expect.stringContaining('10'),
  ]);
}, 60_000);

test('the code has the same effect', async () => {
  const body = change.replace(/^import .*$/m, '').replace(' as const', '');
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (sdk: typeof queues) => Promise<void>;
  const [override = '', reset = ''] = body.split('\nawait queues.resetConcurrencyLimit');
  await new AsyncFunction('queues', override)(queues);
  expect((await queues.retrieve(own)).concurrencyLimit).toBe(5);
  const rest = body.slice(0, body.indexOf('await')) + `await queues.resetConcurrencyLimit${reset}`;
  await new AsyncFunction('queues', rest)(queues);
  expect((await queues.retrieve(own)).concurrencyLimit).toBe(2);
  expect(await queues.sharedLimits()).toMatchObject([{ name: 'provider', limit: 10 }]);
  expect((await queues.environment()).concurrencyLimit).toBeNull();
});

test('a paused queue accepts triggers and starts them when it is resumed', async () => {
  const [pause = '', resume = '', ...rest] = pauses.trim().split('\n');
  await printed(pause.replace('task/resize', 'warehouse'));
  const { id } = await tasks.trigger('daily-report', {});
  await expect
    .poll(async () => (await cli('why', id)).stdout, { timeout: 10_000, interval: 200 })
    .toMatch(/^QUEUED .*"warehouse" is paused/);
  await printed(resume.replace('task/resize', 'warehouse'));
  expect((await runs.poll(id, { pollIntervalMs: 50 })).output).toBe('daily');
  const [paused = '', resumed = ''] = (await printed(rest.join('\n'))).trim().split('\n');
  expect([paused, resumed]).toEqual([
    expect.stringContaining('is paused'),
    expect.stringContaining('is not paused'),
  ]);
}, 60_000);

test('each key has the limit of the queue, and different keys do not wait for each other', async () => {
  await queues.overrideConcurrencyLimit(own, 1);
  const trigger = async (concurrencyKey: string) =>
    (await tasks.trigger('resize', { image: 'a.png' }, { concurrencyKey })).id;
  const ids = [await trigger('c-1'), await trigger('c-1'), await trigger('c-2')];
  await expect
    .poll(async () => Promise.all(ids.map(async (id) => (await runs.retrieve(id)).status)), {
      timeout: 20_000,
      interval: 200,
    })
    .toEqual(['EXECUTING', 'QUEUED', 'EXECUTING']);
  for (const id of ids) await runs.cancel(id);
}, 60_000);
