import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDev, temporaryProject, type Folder, type Ready, type Running } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';

const taskFile = `
import { webhook } from '@millrace/sdk';
export const payments = webhook({
  id: 'payments',
  verify: { scheme: 'stripe', secret: ['PAYMENT_SECRET', 'PAYMENT_SECRET_NEXT'] },
  onEvent: async ({ id, body, rawBody, headers }) => ({ id, total: body.total, rawBody, type: headers['content-type'] }),
});
export const open = webhook({
  id: 'open',
  verify: { scheme: 'none' },
  retry: { maxAttempts: 2, minTimeoutInMs: 1 },
  onEvent: async ({ body }, { ctx }) => {
    if (ctx.attempt.number === 1) throw new Error('not yet');
    return body;
  },
});
`;

let project: Folder;
let dev: Running & { ready: Ready };

beforeAll(async () => {
  project = await temporaryProject({ 'tasks/hooks.ts': taskFile, 'event.json': '{"id":"evt_1","total":7}' });
  dev = await startDev(project.path);
}, 120_000);
afterAll(async () => {
  dev?.kill('SIGKILL');
  await dev?.exitCode;
  await project?.remove();
});

const cli = (...args: string[]) => finished(args, { cwd: project.path, env: { PAYMENT_SECRET: 'secret' } });

interface Delivery {
  readonly id: string;
  readonly senderId: string | null;
  readonly runs: readonly string[];
}

const deliveries = async (): Promise<Delivery[]> => {
  const { stdout } = await cli('webhooks', 'deliveries', '--json');
  return stdout.split('\n').map((line) => JSON.parse(line) as Delivery);
};

async function outputOf(run: string): Promise<unknown> {
  const retrieve = async () =>
    JSON.parse((await cli('runs', 'show', run, '--json')).stdout) as { status: string; output: unknown };
  await expect.poll(async () => (await retrieve()).status, { timeout: 60_000 }).toBe('COMPLETED');
  return (await retrieve()).output;
}

test('a webhook is listed, receives a signed request once, runs its handler, and is replayed', async () => {
  const unset = await cli('webhooks', 'send', 'payments', '--body-file', 'event.json');
  expect(unset.exitCode).toBe(1);
  expect(unset.stderr).toContain('webhook_secret_missing');
  expect((await cli('webhooks', 'list')).stdout).toContain('PAYMENT_SECRET (not set)');
  expect((await cli('env', 'set', 'PAYMENT_SECRET=secret')).exitCode).toBe(0);

  const send = () => cli('webhooks', 'send', 'payments', '--body-file', 'event.json');
  await expect.poll(async () => (await send()).exitCode, { timeout: 30_000 }).toBe(0);
  const again = await send();
  expect(again.stdout).toMatch(/^whd_\w+\nThe request was received before\. No run was started\.$/);

  const [delivery, ...others] = await deliveries();
  expect(others).toEqual([]);
  expect(delivery).toMatchObject({ webhook: 'payments', senderId: 'evt_1', runs: [expect.any(String)] });
  const output = { id: 'evt_1', total: 7, rawBody: '{"id":"evt_1","total":7}', type: 'application/json' };
  expect(await outputOf(delivery?.runs[0] ?? '')).toEqual(output);

  const detail = await cli('webhooks', 'show', delivery?.id ?? '');
  expect(detail.stdout).toContain('{"id":"evt_1","total":7}');
  expect(detail.stdout).toContain('header');
  const replayed = await cli('webhooks', 'replay', delivery?.id ?? '');
  expect(replayed.stdout).toMatch(/^run_\w+$/);
  expect(await outputOf(replayed.stdout)).toEqual(output);
  expect((await deliveries())[0]?.runs).toHaveLength(2);
}, 240_000);

test('a handler that fails is retried', async () => {
  expect((await cli('webhooks', 'send', 'open', '--body', '[1]')).exitCode).toBe(0);
  const [delivery] = await deliveries();
  expect(await outputOf(delivery?.runs[0] ?? '')).toEqual([1]);
}, 120_000);

test('an unknown webhook and a missing secret are rejected with the names that exist', async () => {
  expect(await cli('webhooks', 'send', 'other')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      'The current version has no webhook "other". Its webhooks: open, payments.',
    ),
  });
  expect(await cli('webhooks', 'send', 'payments', '--secret-from', 'NOT_SET')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('set NOT_SET in the environment of this command'),
  });
});
