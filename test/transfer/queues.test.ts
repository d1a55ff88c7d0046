/** Manual settings of queues, their keys and their shared limits are exported and imported. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configure, queues } from '@millrace/sdk';
import { promote } from '../support/promote.ts';
import type { TestServer } from '../support/server.ts';
import { exported, imported, run } from './command.ts';
import { startPair } from './pair.ts';

const ends: (() => Promise<void>)[] = [];
let source: TestServer;
let target: TestServer;
let file: string;

const provider = { name: 'provider', limit: 5 };
const tasks = [
  {
    id: 'mail',
    filePath: 'mail.ts',
    queue: { name: 'mails/out', concurrencyLimit: 9, concurrency: provider, keyWeights: { big: 2, free: 1 } },
  },
  {
    id: 'call',
    filePath: 'call.ts',
    queue: { name: 'calls', rateLimit: { limit: 3, period: 10 }, concurrency: { name: 'lines', limit: 7 } },
  },
  { id: 'own', filePath: 'own.ts' },
];

async function deploy(server: TestServer): Promise<void> {
  const body = { contentHash: 'content-1', tasks };
  const answer = await server.ask('/runner/v1/versions', { method: 'POST', body });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  await promote(server.url, server.keys.prod);
}

async function succeeds(server: TestServer, ...args: string[]): Promise<void> {
  const { exitCode, stderr } = await run(server, args);
  expect([args, exitCode], stderr).toEqual([args, 0]);
}

beforeAll(async () => {
  const pair = await startPair((end) => void ends.push(end));
  ({ source, target } = pair);
  file = join(pair.folder, 'queues.ndjson');
  await deploy(source);
  await succeeds(source, 'queues', 'limit', 'mails/out', '--to', '2');
  await succeeds(source, 'queues', 'pause', 'mails/out');
  await succeeds(source, 'queues', 'rate', 'mails/out', '--to', '10/1m', '--burst', '4', '--per-key');
  await succeeds(source, 'queues', 'rate', 'calls', '--to', 'none');
  await succeeds(source, 'queues', 'limit', 'task/own', '--to', '0');
  await succeeds(source, 'queues', 'weight', 'mails/out', 'big', '--to', '7');
  await succeeds(source, 'queues', 'weight', 'mails/out', 'customer-42', '--to', '5');
  await succeeds(source, 'queues', 'weight', 'task/own', 'x.y z', '--to', '3');
  // It was overridden, then reset to the value in code.
  await succeeds(source, 'queues', 'weight', 'calls', 'gone', '--to', '3');
  await succeeds(source, 'queues', 'weight', 'calls', 'gone', '--to', 'code');
  await succeeds(source, 'queues', 'shared', 'set', 'provider', '--to', '1');
  await succeeds(source, 'queues', 'shared', 'set', 'lines', '--to', '0');
  await succeeds(source, 'queues', 'shared', 'set', 'lines', '--to', 'code');
}, 60_000);
afterAll(async () => {
  configure({});
  for (const end of ends.toReversed()) await end();
});

const only = 'queue,key-weight,shared-limit';
const records = [
  { kind: 'queue', name: 'calls', type: 'custom', rateLimit: null },
  {
    kind: 'queue',
    name: 'mails/out',
    type: 'custom',
    paused: true,
    concurrencyLimit: 2,
    rateLimit: { limit: 10, period: 60, burst: 4, key: 'concurrencyKey' },
  },
  { kind: 'queue', name: 'own', type: 'task', concurrencyLimit: 0 },
  { kind: 'key-weight', queue: 'mails/out', type: 'custom', key: 'big', weight: 7 },
  { kind: 'key-weight', queue: 'mails/out', type: 'custom', key: 'customer-42', weight: 5 },
  { kind: 'key-weight', queue: 'own', type: 'task', key: 'x.y z', weight: 3 },
  { kind: 'shared-limit', name: 'provider', limit: 1 },
];
/** Steps of an import by name. */
const actions = (steps: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> =>
  Object.fromEntries(steps.map(({ kind, name, action }) => [`${String(kind)} ${String(name)}`, action]));
const all = (action: string) => ({
  'queue calls: no rate limit': action,
  'queue mails/out: paused': action,
  'queue mails/out: limit 2': action,
  'queue mails/out: 10 in 60 s': action,
  'queue own: limit 0': action,
  'key-weight mails/out big: 7': action,
  'key-weight mails/out customer-42: 5': action,
  'key-weight own x.y z: 3': action,
  'shared-limit provider: 1': action,
});

test('the export contains manual settings, and no settings from code', async () => {
  expect(await exported(source, only)).toEqual(records);
  await succeeds(source, 'export', file, '--only', only);
});

test('before its tasks are deployed, all settings are pending', async () => {
  const { exitCode, steps } = await imported(target, file);
  expect(exitCode).toBe(1);
  expect(new Set(steps.map(({ action }) => action))).toEqual(new Set(['waits']));
  expect(steps).toHaveLength(records.length);
  expect(await exported(target, only)).toEqual([]);
});

test('afterwards they are created once, and take effect', async () => {
  await deploy(target);
  const { exitCode, steps } = await imported(target, file);
  expect([exitCode, actions(steps)]).toEqual([0, all('create')]);
  expect(await exported(target, only)).toEqual(records);
  const { body: limits } = await target.ask('/api/v1/shared-limits');
  expect(limits.data).toMatchObject([
    { name: 'lines', limit: 7, override: null },
    { name: 'provider', limit: 1, base: 5 },
  ]);
  configure({ baseURL: target.url, secretKey: target.keys.prod });
  const weights: Record<string, unknown> = {};
  for await (const { queue, key, weight, base } of queues.keyWeights({ limit: 2 }))
    weights[`${queue} ${key}`] = [weight, base];
  expect(weights).toEqual({
    'mails/out big': [7, 2],
    'mails/out customer-42': [5, null],
    'mails/out free': [1, 1],
    'own x.y z': [3, null],
  });
  expect(actions((await imported(target, file)).steps)).toEqual(all('same'));
});

test('each differing setting is kept, unless --override is given', async () => {
  await succeeds(target, 'queues', 'resume', 'mails/out');
  await succeeds(target, 'queues', 'limit', 'mails/out', '--to', '3');
  await succeeds(target, 'queues', 'rate', 'calls', '--to', '1/1h');
  await succeeds(target, 'queues', 'weight', 'mails/out', 'big', '--to', '9');
  await succeeds(target, 'queues', 'weight', 'task/own', 'x.y z', '--to', 'code');
  await succeeds(target, 'queues', 'shared', 'set', 'provider', '--to', '4');
  const { exitCode, steps } = await imported(target, file);
  expect([exitCode, actions(steps)]).toEqual([
    0,
    {
      ...all('same'),
      'queue mails/out: paused': 'create',
      'queue mails/out: limit 2': 'keep',
      'queue calls: no rate limit': 'keep',
      'key-weight mails/out big: 7': 'keep',
      'key-weight own x.y z: 3': 'create',
      'shared-limit provider: 1': 'keep',
    },
  ]);
  const taken = await imported(target, file, { args: ['--override'] });
  expect(actions(taken.steps)).toEqual({
    ...all('same'),
    'queue mails/out: limit 2': 'change',
    'queue calls: no rate limit': 'change',
    'key-weight mails/out big: 7': 'change',
    'shared-limit provider: 1': 'change',
  });
  expect(await exported(target, only)).toEqual(records);
});
