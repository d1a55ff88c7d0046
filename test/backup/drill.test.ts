/** The drill of docs/backup.md: an installation under load is destroyed, and restored to a moment and to the end. */
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { archivedSegments, startInstallation, type Installation } from './installation.ts';

let installation: Installation;
/** Runs that were acknowledged before the backup, between it and the moment, and after the moment. */
const acknowledged = { before: [] as string[], between: [] as string[], after: [] as string[] };
let once: string;
let holding: string;
let moment: Date;
const path = (name: string): string => join(installation.folder, name);

async function load(count: number, ids: string[]): Promise<void> {
  const caller = async (): Promise<void> => {
    while (ids.length < count) ids.push((await installation.trigger('quick', { n: ids.length })).id);
  };
  await Promise.all(Array.from({ length: 8 }, caller));
}

beforeAll(async () => {
  installation = await startInstallation();
  const { ready, run, trigger, query } = installation;
  const { secretKey } = ready.environments.prod;
  const at = ['--url', ready.url, '--key', secretKey];
  await installation.work();
  const set = await run('env', 'set', 'PASSWORD=open sesame', '--secret', ...at);
  expect(set).toMatchObject({ exitCode: 0 });
  const scheduled = await run('schedules', 'create', 'tick', '* * * * *', '--deduplication-key', 'k', ...at);
  expect(scheduled).toMatchObject({ exitCode: 0 });
  once = (await trigger('quick', { n: -1 }, { idempotencyKey: 'once' })).id;
  holding = (await trigger('hold', { until: path('let-go') })).id;
  // The backup is created under load.
  const [backup] = await Promise.all([
    run('backup', '--data', 'data', '--to', 'backups', '--json'),
    load(100, acknowledged.before),
  ]);
  expect(backup).toMatchObject({ exitCode: 0 });
  await load(100, acknowledged.between);
  await pause(20);
  moment = new Date();
  await pause(20);
  await load(100, acknowledged.after);
  await cp(path('data/master.key'), path('kept.key'));
  // As if the segment had become full, or the archive timeout had passed.
  await query('data', (sql) => sql`select pg_switch_wal()`);
  const before = (await archivedSegments(path('backups'))).length;
  await eventually(
    () => archivedSegments(path('backups')),
    ({ length }) => length > before,
    10_000,
  );
  installation.server.kill('SIGKILL');
  await installation.server.exitCode;
  await rm(path('data'), { recursive: true, maxRetries: 10 });
});
afterAll(() => installation?.end());

const existing = async (ids: readonly string[], url?: string): Promise<number> => {
  const runs = await Promise.all(ids.map((id) => installation.retrieve(id, url)));
  return runs.filter((run) => run !== undefined).length;
};

test('restored to a moment, it has everything acknowledged by then, repeats nothing and continues when it is resumed', async () => {
  const { run, serve, ready, trigger, retrieve, query } = installation;
  const target = ['--to', 'moment', '--at', moment.toISOString(), '--master-key-file', 'kept.key'];
  const restored = await run('restore', '--from', 'backups', ...target, '--json');
  expect(restored).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/^millrace:/m) });
  const result = JSON.parse(restored.stdout) as { lastTransactionAt: string };
  expect(result).toMatchObject({ paused: true, masterKey: 'verified', at: moment.toISOString() });
  expect(new Date(result.lastTransactionAt).getTime()).toBeLessThanOrEqual(moment.getTime());

  const server = await serve('moment');
  expect(JSON.parse(server.stdout[0] ?? '')).toMatchObject({ paused: true });
  expect(await existing([once, holding, ...acknowledged.before, ...acknowledged.between])).toBe(
    2 + acknowledged.before.length + acknowledged.between.length,
  );
  expect(await existing(acknowledged.after)).toBe(0);
  expect(await trigger('quick', { n: -1 }, { idempotencyKey: 'once' })).toMatchObject({
    id: once,
    isCached: true,
  });

  // As if the backup were older: ticks of five minutes have become due, which were fired before the restore.
  await query(
    'moment',
    (sql) =>
      sql`update schedules set since = since - interval '9 min', next_at = next_at - interval '5 min', next_nominal = next_nominal - interval '5 min'`,
  );
  const ticksOf = () =>
    query('moment', (sql) => sql<{ at: Date }[]>`select nominal_at as at from schedule_ticks order by at`);
  const ticks = await ticksOf();
  const opened = (await trigger('open')).id;
  await pause(1_500);
  expect(await ticksOf()).toEqual(ticks);
  expect((await retrieve(opened))?.status).toBe('QUEUED');

  const owner = ['--url', ready.url, '--token', ready.personalAccessToken];
  const resumed = await run('resume', '--skip-missed', ...owner);
  const resumedAt = new Date();
  expect(resumed).toMatchObject({ exitCode: 0 });
  // The runner, which was connected all the time, continues.
  await writeFile(path('let-go'), '');
  const isDone = async (id: string) => (await retrieve(id))?.status === 'COMPLETED';
  const all = [opened, once, holding, ...acknowledged.before, ...acknowledged.between];
  await eventually(
    async () => (await Promise.all(all.map(isDone))).filter((done) => !done).length,
    (left) => left === 0,
    45_000,
  );
  expect((await retrieve(opened))?.output).toBe(true);
  expect((await retrieve(holding))?.output).toBe('held');
  const fired = (await ticksOf()).slice(ticks.length);
  expect(fired.filter(({ at }) => at <= new Date(resumedAt.getTime() - 60_000))).toEqual([]);
  server.kill('SIGTERM');
  expect(await server.exitCode).toBe(0);
});

test('restored to the end, it has everything that was archived', async () => {
  const { run, serve } = installation;
  const restored = await run('restore', '--from', 'backups', '--to', 'end', '--master-key-file', 'kept.key');
  expect(restored).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Restored to .*It is paused: .*`millrace resume --skip-missed`/s),
  });
  const server = await serve('end', { port: '0' });
  const { url } = JSON.parse(server.stdout[0] ?? '') as { url: string };
  for (const ids of Object.values(acknowledged)) expect(await existing(ids, url)).toBe(ids.length);
  server.kill('SIGTERM');
  expect(await server.exitCode).toBe(0);
});
