/** Upgrade of the data folder of an older PostgreSQL, with all its content, even if processes are killed during it. */
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterMajor, startPostgres } from '../../packages/postgres/src/cluster/index.ts';
import { runningConnection } from '../../packages/postgres/src/cluster/running.ts';
import { connect } from '../../packages/server/src/db/connect.ts';
import { millrace, shell } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { eventually } from '../support/eventually.ts';
import { present, startInstallation, type Installation } from './installation.ts';
import { contentOf, installOld, type Binaries, type Documented } from './old-data.ts';

let installation: Installation;
let secretKey: string;
/** The programs of PostgreSQL 17, and the folder in which npm installed them. */
let binaries: Binaries;
const ids: Record<string, string> = {};
let tokenId: string;
/** The commands of docs/upgrading.md, with the data folder of this test. */
let documented: Documented;
const path = (name: string): string => join(installation.folder, name);
const upgrade = (...args: string[]) => installation.run(present, ['upgrade-data', '--data', ...args]);

async function ask<R>(
  url: string,
  route: string,
  body?: unknown,
  method = body ? 'POST' : 'GET',
): Promise<R> {
  const response = await fetch(`${url}${route}`, {
    method,
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`);
  return (await response.json()) as R;
}

interface UpgradeReport {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
  readonly payload?: unknown;
  readonly payloadPresignedUrl?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
const retrieve = (url: string, id: string | undefined) => ask<UpgradeReport>(url, `/api/v3/runs/${id}`);
const trigger = async (url: string, task: string, payload: unknown, options: object = {}): Promise<string> =>
  (await ask<{ id: string }>(url, `/api/v1/tasks/${task}/trigger`, { payload, options })).id;

const large = 'x'.repeat(300_000);
const tasks = `
import { metadata, queue, schedules, task, wait } from '@millrace/sdk';
const idle = queue({ name: 'idle', concurrencyLimit: 5 });
export const held = task({ id: 'held', queue: idle, run: async (payload: unknown) => payload });
export const quick = task({ id: 'quick', run: async (payload: unknown) => payload });
export const broken = task({ id: 'broken', retry: { maxAttempts: 1 }, run: async () => { throw new Error('as ever'); } });
export const noted = task({ id: 'noted', run: async () => { metadata.set('notes', 'n'.repeat(100_000)); } });
export const token = task({
  id: 'token',
  run: async ({ id }: { id: string }) => {
    const result = await wait.forToken<{ n: number }>(id);
    return result.ok ? result.output.n : -1;
  },
});
export const open = task({ id: 'open', run: async () => process.env['PASSWORD'] === 'open sesame' });
export const tick = schedules.task({ id: 'tick', run: async () => 'tock' });
`;

/** A PostgreSQL 17 data folder with runs in all states, secrets, schedules and large values. */
async function fill(): Promise<void> {
  const cluster = await startPostgres({ dataDir: path('data'), binaries });
  await cluster.stop();
  // Found as a PostgreSQL of the machine, because it created the folder.
  const PATH = [binaries.folder, process.env['PATH']].join(delimiter);
  const server = await installation.serve(present, ['--data', 'data'], { PATH });
  const { url, environments } = server.ready;
  secretKey = environments.prod.secretKey;
  const at = ['--url', url, '--key', secretKey];
  const runner = await installation.work(present, url, secretKey);
  await installation.deploy(present, url, secretKey, tasks);
  for (const args of [
    ['env', 'set', 'PASSWORD=open sesame', '--secret', ...at],
    ['schedules', 'create', 'tick', '0 4 1 1 *', '--deduplication-key', 'yearly', ...at],
    ['queues', 'pause', 'idle', ...at],
  ])
    expect(await installation.run(present, args)).toMatchObject({ exitCode: 0, stderr: '' });
  ids['completed'] = await trigger(url, 'quick', { n: 1 }, { idempotencyKey: 'once' });
  ids['large'] = await trigger(url, 'quick', { large });
  ids['failed'] = await trigger(url, 'broken', null);
  ids['noted'] = await trigger(url, 'noted', null);
  ids['delayed'] = await trigger(url, 'quick', { n: 2 }, { delay: '1h' });
  ids['queued'] = await trigger(url, 'held', { n: 3 });
  ids['canceled'] = await trigger(url, 'quick', { n: 4 }, { delay: '1h' });
  await ask(url, `/api/v2/runs/${ids['canceled']}/cancel`, {});
  tokenId = (await ask<{ id: string }>(url, '/api/v1/waitpoints/tokens', { timeout: '1d' })).id;
  ids['waiting'] = await trigger(url, 'token', { id: tokenId });
  await Promise.all(Array.from({ length: 300 }, (_, n) => trigger(url, 'quick', { n })));
  const statuses = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(ids).map(async ([name, id]) => [name, (await retrieve(url, id)).status]),
      ),
    ) as Record<string, string>;
  const expected = {
    completed: 'COMPLETED',
    large: 'COMPLETED',
    failed: 'FAILED',
    noted: 'COMPLETED',
    waiting: 'WAITING',
  };
  const isExpected = (seen: Record<string, string>): boolean =>
    Object.entries(expected).every(([name, status]) => seen[name] === status);
  await eventually(statuses, isExpected, 40_000);
  const query = connect((await runningConnection(path('data'))) ?? '', { name: 'test', max: 1 });
  // An index of the user, for example against slow queries.
  await query.unsafe('create index of_mine on runs (task, id)').finally(() => query.end());
  expect(await installation.run(present, ['backup', '--data', 'data', '--to', 'backups'])).toMatchObject({
    exitCode: 0,
  });
  for (const process of [runner, server]) {
    process.kill('SIGTERM');
    expect(await process.exitCode).toBe(0);
  }
}

beforeAll(async () => {
  installation = await startInstallation();
  await mkdir(path('empty'));
  ({ documented, binaries } = await installOld(installation.folder));
  await fill();
}, 240_000);
afterAll(() => installation?.end());

test('a start on the folder names the upgrade command, which names the command that installs the old programs, and rejects other folders', async () => {
  const start = await installation.run(present, ['start', '--data', 'data', '--port', '0']);
  expect(start).toMatchObject({
    exitCode: 3,
    stderr: expect.stringMatching(
      /was made by PostgreSQL 17, but this Millrace includes PostgreSQL 18\. Upgrade it with `millrace upgrade-data --data \S+data`\. See: millrace help /m,
    ) as string,
  });
  await expect(shell(documented.upgrade, installation.folder)).rejects.toThrow(
    `exit code 3: millrace: The data in ${path('data/postgres')} was made by PostgreSQL 17, whose programs are required to read it and are not ` +
      `on this machine. Run \`${documented.install}\`, and pass --from-binaries postgres-17.`,
  );
  const other = await upgrade('data', '--from-binaries', 'empty');
  expect(other).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('has no postgres') as string });
  expect(await upgrade('nowhere')).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('No database in') as string,
  });
  expect(await upgrade('data', '--remove-old')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('No old database') as string,
  });
  expect(clusterMajor(path('data/postgres'))).toBe(17);
});

test('a backup of the old PostgreSQL names the Millrace version that restores it', async () => {
  const restored = await installation.run(present, ['restore', '--from', 'backups', '--to', 'restored']);
  expect(restored).toMatchObject({
    exitCode: 3,
    stderr: expect.stringMatching(
      /is from PostgreSQL 17\.\d+, which this Millrace does not include\. Restore it with Millrace \d/,
    ) as string,
  });
  expect(existsSync(path('restored'))).toBe(false);
});

test('tables and columns that Millrace did not create are reported, and nothing is copied', async () => {
  await shell(documented.copy, installation.folder);
  await rename(path('data-before'), path('foreign'));
  const running = await startPostgres({ dataDir: path('foreign'), binaries });
  const sql = connect(running.connection, { name: 'test', max: 1 });
  await sql.unsafe('create table mine (n int); alter table runs add column mine int');
  await sql.end();
  await running.stop();
  expect(await upgrade('foreign', '--from-binaries', 'postgres-17')).toMatchObject({
    exitCode: 3,
    stderr: expect.stringMatching(
      /contains objects that Millrace did not create .*: public\.mine, public\.runs\.mine\./,
    ) as string,
  });
  expect((await readdir(path('foreign'))).filter((name) => /upgrade|kept/.test(name))).toEqual([]);
  await rm(path('foreign'), { recursive: true });
}, 60_000);

test.runIf(isLong)(
  'after a kill at any time the folder has the complete old or new database, and the next call continues',
  async () => {
    await cp(path('data'), path('killed'), { recursive: true });
    const before = await contentOf(path('killed'), binaries);
    const args = ['upgrade-data', '--data', 'killed', '--from-binaries', 'postgres-17'];
    let lasts = 1_000;
    for (let round = 0; ; round += 1) {
      const startedAt = Date.now();
      const running = millrace(args, { cwd: installation.folder });
      if (round < 6) setTimeout(() => running.kill('SIGKILL'), lasts).unref();
      const exitCode = await running.exitCode;
      if (exitCode === 0) break;
      expect(exitCode).toBe(null);
      expect(clusterMajor(path('killed/postgres'))).toBe(17);
      // A little longer each time, so that kills cover the whole upgrade.
      lasts = (Date.now() - startedAt) * 1.4;
      expect(round).toBeLessThan(6);
    }
    expect((await readdir(path('killed'))).filter((name) => name.startsWith('upgrade'))).toEqual([]);
    expect(clusterMajor(path('killed/postgres'))).toBe(18);
    expect(await contentOf(path('killed'), binaries)).toEqual(before);
    await rm(path('killed'), { recursive: true });
  },
  120_000,
);

describe('upgraded', () => {
  let before: Record<string, string>;
  beforeAll(async () => {
    before = await contentOf(path('data'), binaries);
    const done = await shell(`${documented.upgradeWith} --json`, installation.folder);
    expect(JSON.parse(done)).toMatchObject({
      from: 17,
      to: 18,
      upgraded: true,
      indexesLeft: [],
      oldClusters: [path('data/postgres.17-kept')],
    });
  }, 60_000);

  test('every row and every sequence exists, and the old database is kept until it is removed', async () => {
    expect(Object.keys(before).length).toBeGreaterThan(60);
    expect(before['runs']).toMatch(/^30[0-9] /);
    expect(await contentOf(path('data'), binaries)).toEqual(before);
    await mkdir(path('old'));
    await rename(path('data/postgres.17-kept'), path('old/postgres'));
    expect(await contentOf(path('old'), binaries)).toEqual(before);
    await rename(path('old/postgres'), path('data/postgres.17-kept'));
    expect(await upgrade('data')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/is already at PostgreSQL 18\.\nThe old database is kept in/) as string,
    });
    expect(await shell(documented.remove, installation.folder)).toContain('Deleted ');
    expect(existsSync(path('data/postgres.17-kept'))).toBe(false);
    const archived = await installation.run(present, [
      'start',
      '--data',
      'data',
      '--port',
      '0',
      '--backups',
      'backups',
    ]);
    expect(archived).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('contains backups of a different database') as string,
    });
  }, 60_000);

  test('it works: secrets, waits, keys, schedules, large values, new ids', async () => {
    const server = await installation.serve(present, ['--data', 'data']);
    const { url } = server.ready;
    const runner = await installation.work(present, url, secretKey);
    expect((await retrieve(url, ids['failed'])).status).toBe('FAILED');
    expect((await retrieve(url, ids['canceled'])).status).toBe('CANCELED');
    expect((await retrieve(url, ids['delayed'])).status).toBe('DELAYED');
    expect((await retrieve(url, ids['queued'])).status).toBe('QUEUED');
    expect((await retrieve(url, ids['noted'])).metadata).toEqual({ notes: 'n'.repeat(100_000) });
    const response = await retrieve(url, ids['large']);
    const payload = response.payloadPresignedUrl
      ? await (await fetch(response.payloadPresignedUrl)).json()
      : response.payload;
    expect(payload).toEqual({ large });
    expect(await trigger(url, 'quick', { n: 1 }, { idempotencyKey: 'once' })).toBe(ids['completed']);
    await ask(url, `/api/v1/waitpoints/tokens/${tokenId}/complete`, { data: { n: 7 } });
    const resumed = await installation.run(present, [
      'queues',
      'resume',
      'idle',
      '--url',
      url,
      '--key',
      secretKey,
    ]);
    expect(resumed).toMatchObject({ exitCode: 0 });
    const opened = await trigger(url, 'open', null);
    const broken = await trigger(url, 'broken', null);
    const outputs = async () =>
      Promise.all(
        [ids['waiting'], opened, ids['queued']].map(async (id) => (await retrieve(url, id)).output),
      );
    await expect.poll(outputs, { timeout: 30_000, interval: 200 }).toEqual([7, true, { n: 3 }]);
    await expect.poll(async () => (await retrieve(url, broken)).status, { timeout: 15_000 }).toBe('FAILED');
    // Both failures belong to one group, so the error tables continue to work as well.
    const errors = await ask<{ data: { count: number }[] }>(url, '/api/v1/errors');
    expect(errors.data).toMatchObject([{ count: 2 }]);
    const schedules = await ask<{ data: { deduplicationKey: string; nextRun: string | null }[] }>(
      url,
      '/api/v1/schedules',
    );
    expect(schedules.data).toMatchObject([
      { deduplicationKey: 'yearly', nextRun: expect.any(String) as string },
    ]);
    const complaints = [...server.stderr].filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
    expect(complaints).toEqual([]);
    for (const process of [runner, server]) {
      process.kill('SIGTERM');
      expect(await process.exitCode).toBe(0);
    }
  }, 90_000);
});
