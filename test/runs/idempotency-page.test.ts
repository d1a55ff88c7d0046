/** A new user follows docs/idempotency.md: its tasks, code and command, next to `millrace dev`. */
import { idempotencyKeys, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';

const blocks = await blocksOf('idempotency.md');
const [welcome = '', twice = '', signUp = '', reset = ''] = blocks('ts');
const [request = ''] = blocks('sh');

const { printed, ready } = besideDev({ 'tasks/welcome.ts': welcome, 'tasks/sign-up.ts': signUp });

/** The code of a block without its imports, as a function that returns its output. */
function codeOf(block: string, ...names: readonly string[]) {
  const body = block.replaceAll(/^import .*$/gm, '').replace(/console\.log\((.*)\);/, 'return [$1];');
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (...values: unknown[]) => Promise<unknown>;
  return new AsyncFunction(...names, body);
}

const task = { trigger: (payload: unknown, options: object) => tasks.trigger('welcome', payload, options) };

test('the second trigger returns the run of the first, until the key is reset', async () => {
  const trigger = () => codeOf(twice, 'idempotencyKeys', 'welcome')(idempotencyKeys, task);
  expect(await trigger()).toEqual([true, true]);
  const before = (await runs.list({ taskIdentifier: ['welcome'] })).data.length;
  await codeOf(reset, 'idempotencyKeys')(idempotencyKeys);
  expect(await trigger()).toEqual([true, true]);
  expect((await runs.list({ taskIdentifier: ['welcome'] })).data).toHaveLength(before + 1);
});

test('a retry does not trigger the child again', async () => {
  const count = async () => (await runs.list({ taskIdentifier: ['welcome'] })).data.length;
  const before = await count();
  const parent = await runs.poll(await tasks.trigger('sign-up', { user: 'u-44' }), { pollIntervalMs: 50 });
  expect(parent).toMatchObject({
    status: 'COMPLETED',
    attemptCount: 2,
    output: expect.stringMatching(/^run_/) as string,
  });
  expect(await count()).toBe(before + 1);
}, 30_000);

test('the command sends a key, and gets the same run again', async () => {
  const { url, environments } = ready();
  const script = `export MILLRACE_API_URL=${url} MILLRACE_SECRET_KEY=${environments.dev.secretKey}\n${request}`;
  const first = JSON.parse(await printed(script)) as { id: string; isCached: boolean };
  const second = JSON.parse(await printed(script)) as { id: string; isCached: boolean };
  expect([first.isCached, second]).toEqual([false, { ...second, id: first.id, isCached: true }]);
});
