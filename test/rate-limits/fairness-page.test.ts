/** A new user follows docs/fairness.md: its tasks, commands and code, next to `millrace dev`. */
import { queues, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';

const blocks = await blocksOf('fairness.md');
const [declared = '', inCode = ''] = blocks('ts');
const [start = '', weights = ''] = blocks('sh');

const { cli, printed } = besideDev({ 'tasks/sync.ts': declared });
const sync = { type: 'custom', name: 'sync' } as const;

test('the first example triggers, and lists its shared limit', async () => {
  const listed = await printed(start);
  expect(listed).toMatch(/provider +\d +2 +sync, task\/push/);
}, 30_000);

test('the commands change the weight, and report invalid input', async () => {
  expect((await printed(weights)).trim().split('\n')).toEqual([
    'The key customer-42 of the queue sync has the weight 5.',
    'The key customer-42 of the queue sync has the weight in the code.',
  ]);
  for (const [args, exitCode, sentence] of [
    [['weight', 'sync', 'a', '--to', '0'], 2, 'Must be a number from 1 to 100, or code.'],
    [['weight', 'sync', 'a', '--to', 'much'], 2, 'Must be a number from 1 to 100, or code.'],
    [['weight', 'none', 'a', '--to', '2'], 1, 'Queue not found'],
    [['shared', 'set', 'provider', '--to', '-1'], 2, 'Must be a number from 0 to 100000, or code.'],
    [['shared', 'set', 'none', '--to', '1'], 1, 'Shared limit not found'],
  ] as const)
    expect([args, await cli('queues', ...args)]).toMatchObject([
      args,
      { exitCode, stderr: expect.stringContaining(sentence) as string },
    ]);
}, 30_000);

test('the code has the same effect, and a waiting run has its reason', async () => {
  const body = inCode.replace(/^import .*$/m, '').replaceAll(/console\.log\((.*)\);/g, 'seen.push([$1]);');
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (...args: unknown[]) => Promise<unknown[][]>;
  const seen = await new AsyncFunction('tasks', 'queues', `const seen = [];${body}; return seen;`)(
    tasks,
    queues,
  );
  expect(seen).toEqual([
    ['sync', 'customer-42', 5],
    ['sync', 'paying', 3],
    ['provider', expect.stringMatching(/^\d of 5$/)],
  ]);

  await queues.overrideSharedLimit('provider', 0);
  const waiting = await tasks.trigger('push', {});
  await expect
    .poll(async () => (await cli('why', waiting.id)).stdout, { timeout: 10_000, interval: 200 })
    .toMatch(/^QUEUED .*shared limit "provider"/);
  await queues.resetSharedLimit('provider');
  expect(await runs.poll(waiting, { pollIntervalMs: 50 })).toMatchObject({ status: 'COMPLETED' });
  await queues.setKeyWeight(sync, 'customer-42', null);
}, 30_000);
