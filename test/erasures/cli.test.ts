import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { startS3Server } from '../../packages/server/src/versions/deployments/testing/s3-server.ts';
import { millrace } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { startTestServer, tenantOf, type TestServer } from '../support/server.ts';
import { tablesWith } from '../support/tables-with.ts';
import { addEndedRuns } from './ended-runs.ts';

let first: TestServer;
let sql: Sql;
let folder: string;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  first = await startTestServer((end) => ends.push(end));
  sql = connect(first.database, { name: 'test', max: 2 });
  folder = await mkdtemp(join(tmpdir(), 'millrace-erasures-'));
}, 60_000);
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  for (const end of ends) await end();
  await rm(folder, { recursive: true, force: true });
});

/** A new environment with a task that an event starts and a webhook; and the command for it. */
async function start() {
  const server = await tenantOf(first);
  const ok = async (route: string, body?: unknown) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await server.ask(path, { method, body });
    expect([route, answer.status < 300 ? 'ok' : answer.body]).toEqual([route, 'ok']);
    return answer.body;
  };
  const tasks = [
    { id: 'mail', filePath: 'a.ts', on: { name: 'signup' } },
    { id: 'hook', filePath: 'a.ts', webhook: { verify: { scheme: 'none' } } },
  ];
  const { version } = await ok('POST /runner/v1/versions', { contentHash: 'c'.repeat(64), tasks });
  await ok(`POST /api/v1/deployments/${version}/promote?force=true`);
  const env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
  const cli = (...args: string[]) => finished(args, { cwd: folder, env });
  return { server, ok, cli, env };
}

/** Cancels all runs of the task. */
async function endAll(ok: Awaited<ReturnType<typeof start>>['ok'], task: string): Promise<void> {
  for (const { id } of (await ok(`GET /api/v1/runs?filter[taskIdentifier]=${task}`)).data) {
    await ok(`POST /api/v2/runs/${id}/cancel`);
  }
}

test('erase shows the count, erases events and webhook deliveries too, and reports runs that have not ended', async () => {
  const { ok, cli, server } = await start();
  const marker = 'grace-hopper-1906';
  await ok('POST /api/v1/events', {
    id: 'e1',
    event: { name: 'signup', payload: { user: marker }, context: marker },
  });
  await ok('POST /api/v1/tasks/mail/trigger', { payload: marker, options: { tags: [marker] } });
  const [{ url }] = (await ok('GET /api/v1/webhooks')).data;
  const sent = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ marker }),
    headers: { 'x-user': marker },
  });
  const delivery = (await sent.json()) as { id: string };
  await endAll(ok, 'mail');
  await endAll(ok, 'hook');
  // Runners no longer deliver lines for them.
  first.shiftTime(300_000);
  const live = await ok('POST /api/v1/tasks/mail/trigger', { payload: 1, options: { delay: '1h' } });

  const unconfirmed = await cli('runs', 'erase', '--where', 'task:mail');
  expect([unconfirmed.exitCode, unconfirmed.stderr]).toEqual([
    2,
    expect.stringContaining('pass --yes') as string,
  ]);
  expect(unconfirmed.stdout).toBe('2 runs selected.\nSkipped, because they have not ended: 1 run.');
  const wrong = await cli('runs', 'erase', '--where', 'status:queued', '--yes');
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('QUEUED runs have not ended') as string,
  ]);
  expect((await cli('runs', 'erase', '--yes')).exitCode).toBe(2);
  expect((await cli('runs', 'erase', '--where', 'task:none', '--yes')).stdout).toBe('No ended runs match.');

  const erased = await cli('runs', 'erase', '--task', 'mail', '--yes', '--json');
  expect([erased.exitCode, JSON.parse(erased.stdout)]).toMatchObject([
    1,
    { mode: 'erase', status: 'COMPLETED', counts: { erased: 2, skipped: 1 } },
  ]);
  expect(erased.stderr).toContain('Skipped: 1 run that had not ended');
  expect((await cli('runs', 'erase', '--where', 'task:hook', '--yes')).exitCode).toBe(0);
  expect(await tablesWith(sql, marker)).toEqual([]);

  expect(await server.ask('/api/v1/events/e1/replay', { method: 'POST' })).toMatchObject({ status: 422 });
  const replay = await server.ask(`/api/v1/webhook-deliveries/${delivery.id}/replay`, { method: 'POST' });
  expect([replay.status, replay.headers.get('x-millrace-error-code')]).toEqual([422, 'run_erased']);
  expect((await cli('runs', 'erasures', 'list')).stdout.split('\n')).toHaveLength(3);
  expect((await cli('runs', 'cancel', live.id)).exitCode).toBe(0);
  const missing = await cli('runs', 'erasures', 'abort', 'erasure_none');
  expect([missing.exitCode, missing.stderr]).toEqual([
    1,
    expect.stringContaining('Erasure not found') as string,
  ]);
});

/** The records of one kind of an archive in a folder. */
async function recordsOf(target: string, kind: string): Promise<Record<string, unknown>[]> {
  const files = (await readdir(target)).filter((name) => name.endsWith(`.${kind}.ndjson.gz`)).toSorted();
  const texts = await Promise.all(
    files.map(async (name) => gunzipSync(await readFile(join(target, name))).toString()),
  );
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
}

test(
  'an archive killed in the middle continues, is complete, and only then deletes exactly its runs',
  { timeout: 60_000 },
  async () => {
    const { ok, cli, env } = await start();
    const { id } = await ok('POST /api/v1/tasks/mail/trigger', { payload: 1, options: { delay: '1h' } });
    const count = 22_000;
    await addEndedRuns(sql, id, { count, text: 'archived' });
    const target = join(folder, 'killed');
    const args = [
      'runs',
      'archive',
      '--into',
      target,
      '--tag',
      'archived',
      '--then-delete',
      '--yes',
      '--json',
    ];
    const parts = async (): Promise<number> => {
      const text = await readFile(join(target, 'manifest.json'), 'utf8').catch(() => '{"parts":[]}');
      return (JSON.parse(text) as { parts: unknown[] }).parts.length;
    };
    const command = millrace(args, { cwd: folder, env });
    await expect.poll(parts, { timeout: 30_000, interval: 5 }).toBeGreaterThan(0);
    command.kill('SIGKILL');
    await command.exitCode;
    expect(await parts()).toBeLessThan(3);
    expect(await sql`select from runs where tags = '{archived}' limit 1`).toHaveLength(1);

    const done = await cli(...args);
    expect(done.exitCode, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      runs: count,
      verified: true,
      mode: 'delete',
      erased: count,
      skipped: 0,
    });
    const runs = await recordsOf(target, 'runs');
    expect(new Set(runs.map((run) => run['id'])).size).toBe(count);
    expect(runs[0]).toMatchObject({
      task: 'mail',
      status: 'COMPLETED',
      payload: '"archived"',
      payload_type: 'application/json',
    });
    const lines = await recordsOf(target, 'logs');
    expect(new Set(lines.map((line) => line['run_id'])).size).toBe(count);
    expect(await sql`select from runs where tags = '{archived}'`).toHaveLength(0);
    // Repeated, it changes nothing.
    expect(JSON.parse((await cli(...args)).stdout)).toMatchObject({ runs: count, erased: count });
  },
);

test('a damaged archive, another archive or a refusing bucket is an error, and no run is lost', async () => {
  const { ok, cli, server } = await start();
  const { id } = await ok('POST /api/v1/tasks/mail/trigger', { payload: 1, options: { delay: '1h' } });
  await addEndedRuns(sql, id, { count: 3, text: 'kept-run' });
  const target = join(folder, 'damaged');
  const archive = (...args: string[]) => cli('runs', 'archive', '--tag', 'kept-run', '--yes', ...args);
  expect((await archive('--into', target)).stdout).toMatch(
    /^Archived 3 runs in 2 files \(.+\) to .+damaged, and verified them\.$/,
  );
  const other = await cli('runs', 'archive', '--into', target);
  expect([other.exitCode, other.stderr]).toEqual([
    1,
    expect.stringContaining('holds an archive of other runs') as string,
  ]);
  await writeFile(join(target, '000001.logs.ndjson.gz'), 'not gzip');
  const damaged = await archive('--into', target, '--then-erase');
  expect(damaged.exitCode).toBe(1);
  expect(damaged.stderr).toMatch(/000001\.logs\.ndjson\.gz is damaged: .+ No run was erased or deleted\.$/);

  const s3 = await startS3Server();
  const keys = { AWS_ENDPOINT_URL_S3: s3.settings.endpoint ?? '', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
  const env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod, ...keys };
  const toBucket = (key: string, bucket: string) =>
    finished(['runs', 'archive', '--tag', 'kept-run', '--into', bucket, '--then-erase', '--yes'], {
      cwd: folder,
      env: { ...env, AWS_ACCESS_KEY_ID: key },
    });
  const refused = await toBucket('NOBODY', 's3://bundles/archive');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(
    /--into: s3:\/\/bundles\/archive rejected a test object: 403 .+ No run was erased or deleted\.$/,
  );
  expect((await toBucket('S3RVER', 's3://nowhere')).stderr).toContain('no bucket "nowhere"');
  expect(await sql`select from runs where tags = '{kept-run}'`).toHaveLength(3);

  const stored = await toBucket('S3RVER', 's3://bundles/archive');
  expect([stored.exitCode, stored.stderr]).toEqual([0, '']);
  expect(stored.stdout).toContain('Erased the data of 3 runs.');
  expect([...(await s3.objects()).keys()].toSorted()).toEqual([
    'archive/000001.logs.ndjson.gz',
    'archive/000001.runs.ndjson.gz',
    'archive/manifest.json',
  ]);
  expect(await sql`select from runs where tags = '{kept-run}'`).toHaveLength(0);
});
