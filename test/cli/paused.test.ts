import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { withDatabase } from '../support/cluster.ts';
import { testDatabase } from '../support/database.ts';
import { addressOverTcp } from '../support/pgbouncer.ts';
import { startProject } from '../support/project.ts';
import { millrace, temporaryProject, type Folder, type Ready } from './command.ts';
import { finished } from './in-process.ts';

let folder: Folder;
let backedUp: Awaited<ReturnType<typeof backUp>>;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  folder = await temporaryProject({});
  backedUp = await backUp();
}, 60_000);
afterAll(async () => {
  for (const end of ends) await end();
  await folder.remove();
});

const masterKey = '7'.repeat(64);
const patience = { timeout: 30_000 };
const tasks = {
  'tasks/tick.ts': `
    import { schedules, task } from '@millrace/sdk';
    export const tick = schedules.task({ id: 'tick', run: async () => 'tock' });
    export const work = task({ id: 'work', run: async () => 'done' });
  `,
};

async function start(
  url: string,
  args: readonly string[] = [],
  onEnd: (end: () => void) => void = onTestFinished,
) {
  const running = millrace(['start', '--port', '0', '--json', '--show-secrets', ...args], {
    cwd: folder.path,
    env: { DATABASE_URL: url, MILLRACE_MASTER_KEY: masterKey },
  });
  onEnd(() => running.kill('SIGKILL'));
  const ready = JSON.parse(await running.line(/^\{"url"/)) as Ready & { paused?: boolean };
  return { ...running, ready: ready };
}

/** A database with an every-minute schedule, whose server has stopped. */
async function backUp() {
  const { connection, drop } = await testDatabase();
  ends.push(drop);
  const onEnd = (end: () => void): void => void ends.unshift(async () => end());
  const server = await start(await addressOverTcp(connection, onEnd), [], onEnd);
  const { environments, personalAccessToken: token, url } = server.ready;
  const key = environments.prod.secretKey;
  const runner: (() => Promise<void>)[] = [];
  await startProject({ url, keys: { prod: key } }, tasks, [], (end) => runner.push(end));
  const created = await ask(url, key, '/api/v1/schedules', {
    task: 'tick',
    cron: '* * * * *',
    deduplicationKey: 'every minute',
    missed: 'all:1h',
  });
  expect(created.status).toBe(200);
  for (const end of runner) await end();
  server.kill('SIGTERM');
  await server.exitCode;
  const admin = connect(connection, { name: 'test', max: 1 });
  const [own] = await admin<{ name: string }[]>`select current_database() as name`;
  await admin.end();
  return { connection, name: own?.name ?? '', key, token };
}

let restores = 0;

/** The database in the state of a backup from some minutes ago: later events are not in it. */
async function restored() {
  const { connection, key, token } = backedUp;
  restores += 1;
  const name = `restored_${process.pid}_${restores}`;
  const postgres = connect(withDatabase(connection, 'postgres'), { name: 'test', max: 1 });
  await postgres.unsafe(`create database ${name} template ${backedUp.name}`);
  const database = withDatabase(connection, name);
  const sql = connect(database, { name: 'test', max: 1 });
  onTestFinished(async () => {
    await sql.end();
    await postgres.unsafe(`drop database ${name} with (force)`);
    await postgres.end();
  });
  await sql`update schedules set since = since - interval '9 min', next_at = next_at - interval '5 min', next_nominal = next_nominal - interval '5 min'`;
  return { address: await addressOverTcp(database), sql, key, token };
}

async function ask(url: string, key: string, path: string, body?: unknown) {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Replies have any shape.
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

const probe = async (url: string, path: string) =>
  (await fetch(url + path)).json() as Promise<Record<string, unknown>>;
const count = async (sql: Sql) => (await sql<{ n: number }[]>`select count(*)::int as n from runs`)[0]?.n;

test('a restored database that is started with --paused does nothing automatically, on any server, until it is resumed', async () => {
  const { address, sql, key, token } = await restored();
  let first = await start(address, ['--paused']);
  expect(first.ready).toMatchObject({ paused: true, pausedAt: expect.any(String) });
  const second = await start(address);
  expect(second.ready).toMatchObject({ paused: true });
  await second.line(/"event":"server.paused"/);
  for (const path of ['/readyz', '/healthz'])
    expect(await probe(second.ready.url, path)).toMatchObject({ paused: true, pausedAt: expect.any(String) });
  await startProject({ url: second.ready.url, keys: { prod: key } }, tasks);

  const trigger = async (options: object) =>
    (await ask(first.ready.url, key, '/api/v1/tasks/work/trigger', { options })).body[
      'id'
    ] as unknown as string;
  const [waits, delayed, expires] = [
    await trigger({}),
    await trigger({ delay: '1s' }),
    await trigger({ ttl: 1 }),
  ];
  const status = async (run: string) =>
    (await ask(first.ready.url, key, `/api/v3/runs/${run}`)).body['status'];
  // Long enough for every poll and every due tick.
  await pause(4_000);
  expect([await status(waits), await status(delayed), await status(expires)]).toEqual([
    'QUEUED',
    'DELAYED',
    'QUEUED',
  ]);
  expect((await ask(second.ready.url, key, `/api/v1/runs/${waits}/reason`)).body).toMatchObject({
    reason: 'installation_paused',
  });
  expect([await count(sql), await sql`select from schedule_skips`, await sql`select from leases`]).toEqual([
    3,
    [],
    [],
  ]);

  // A server that is killed and started again without the option is still paused.
  first.kill('SIGKILL');
  await first.exitCode;
  first = await start(address);
  expect(first.ready).toMatchObject({ paused: true });

  const resume = (args: readonly string[], as = token) =>
    finished(['resume', '--url', first.ready.url, '--token', as, ...args], { cwd: folder.path });
  const undecided = await resume([]);
  expect(undecided.exitCode).toBe(1);
  expect(undecided.stderr).toMatch(/Ticks of 1 schedule have fallen due.*--skip-missed.*--fire-missed/);
  expect((await resume(['--skip-missed', '--fire-missed'])).exitCode).toBe(2);
  expect(await resume(['--skip-missed'])).toMatchObject({
    exitCode: 0,
    stdout: 'Resumed: runs start and schedules fire again. Ticks of 1 schedule that became due are skipped.',
  });
  await expect.poll(() => status(waits), patience).toBe('COMPLETED');
  await expect.poll(() => status(delayed), patience).toBe('COMPLETED');
  await second.line(/"event":"server.resumed"/);
  for (const { ready } of [first, second])
    expect(await probe(ready.url, '/readyz')).toEqual({ status: 'ready' });
  const skips = () => sql`select reason from schedule_skips`;
  await expect.poll(skips, patience).toEqual([{ reason: 'missed' }]);
  const [skipped] = await sql<{ until_at: Date }[]>`select until_at from schedule_skips`;
  // Ticks that became due since then may have been fired; earlier ones may not.
  expect(await sql`select from schedule_ticks where nominal_at <= ${skipped!.until_at}`).toEqual([]);
  expect(await sql`select act, new from audit_log where act like 'installation.%'`).toEqual([
    { act: 'installation.resumed', new: { missedTicks: 'skip', schedules: 1 } },
  ]);
  expect((await resume([])).stdout).toBe('Not paused. Nothing was changed.');
}, 120_000);

test('resuming can also fire the missed ticks, according to each schedule', async () => {
  const { address, sql, token } = await restored();
  const first = await start(address, ['--paused']);
  const { exitCode } = await finished(
    ['resume', '--url', first.ready.url, '--token', token, '--fire-missed'],
    {
      cwd: folder.path,
    },
  );
  expect(exitCode).toBe(0);
  const ticks = async () => (await sql`select from schedule_ticks`).count;
  await expect.poll(ticks, patience).toBeGreaterThanOrEqual(4);
}, 120_000);

test('only an owner of the first organization resumes', async () => {
  const { address, sql } = await restored();
  const first = await start(address, ['--paused']);
  // Another user, with an organization of their own.
  const stranger = `svc_pat_${'s'.repeat(40)}`;
  const { credentialDigest } = await import('../../packages/server/src/auth/keys.ts');
  await sql`insert into users (id, name) values ('user_s', 'Stranger')`;
  await sql`insert into organizations (id, name) values ('org_s', 'Theirs')`;
  await sql`insert into memberships (organization_id, user_id, role) values ('org_s', 'user_s', 'owner')`;
  await sql`insert into personal_access_tokens (id, user_id, digest, last_four, name)
            values ('pat_s', 'user_s', ${credentialDigest(stranger)}, 'ssss', 's')`;
  const { exitCode, stderr } = await finished(
    ['resume', '--url', first.ready.url, '--token', stranger, '--skip-missed'],
    { cwd: folder.path },
  );
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining('Only an owner of the organization')]);
  expect(await probe(first.ready.url, '/readyz')).toMatchObject({ paused: true });
}, 120_000);

test('MILLRACE_PAUSED other than 1 and 0 is rejected', async () => {
  const { exitCode, stderr } = await finished(['start', '--data', 'd', '--port', '0'], {
    cwd: folder.path,
    env: { MILLRACE_PAUSED: 'maybe' },
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('MILLRACE_PAUSED must be 1 or 0.')]);
});
