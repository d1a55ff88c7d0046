/** The source is a second Millrace server: it has the public API of the published SDK. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../packages/millrace/src/cli/main.ts';
import { promote } from '../support/promote.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ends: (() => Promise<void>)[] = [];
let source: TestServer;
let target: TestServer;
let folder: string;
const secret = 'sk_live_0123456789';

/** Declares tasks in an environment. */
async function deploy(server: TestServer, tasks: readonly object[]): Promise<void> {
  const body = { contentHash: `content-${tasks.length}`, tasks };
  const { status } = await server.ask('/runner/v1/versions', { method: 'POST', body });
  expect(status).toBe(200);
  await promote(server.url, server.keys.prod);
}

const report = { id: 'report', filePath: 'trigger/report.ts', scheduled: true };
const cleanup = { id: 'cleanup', filePath: 'trigger/cleanup.ts', scheduled: true };
const declared = {
  id: 'declared',
  filePath: 'trigger/declared.ts',
  schedule: { cron: '0 0 * * *', timezone: 'UTC' },
};

const variable = (server: TestServer, name: string, value: string, isSecret = false) =>
  server.ask(`/api/v1/projects/${server.projectRef}/envvars/prod`, {
    method: 'POST',
    body: { name, value, isSecret },
  });

async function schedule(server: TestServer, body: object): Promise<string> {
  const all = { task: 'report', cron: '0 9 * * 1-5', deduplicationKey: '', ...body };
  const answer = await server.ask('/api/v1/schedules', { method: 'POST', body: all });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.id as string;
}

beforeAll(async () => {
  const onEnd = (end: () => Promise<void>): void => void ends.push(end);
  [source, target] = await Promise.all([startTestServer(onEnd), startTestServer(onEnd)]);
  folder = await mkdtemp(join(tmpdir(), 'millrace-import-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  // Each call adds a listener.
  process.stdout.setMaxListeners(0);
  process.stderr.setMaxListeners(0);
  await deploy(source, [report, cleanup, declared]);
  await deploy(target, [report, declared]);
  await variable(source, 'LOG_LEVEL', 'debug');
  await variable(source, 'STRIPE_KEY', secret, true);
  await variable(source, 'REGION', 'eu');
  await variable(target, 'REGION', 'us');
  await schedule(source, {
    deduplicationKey: 'daily',
    timezone: 'Europe/Paris',
    window: '15m',
    externalId: 'user_1',
  });
  await schedule(source, { deduplicationKey: 'paused', active: false });
  await schedule(source, { deduplicationKey: 'of-cleanup', task: 'cleanup' });
}, 60_000);
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  for (const end of ends.toReversed()) await end();
});

interface ImportReport {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command, from the source to the target unless `args` contains others: the last of an option counts. */
async function importing(...args: string[]): Promise<ImportReport> {
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    });
  const to = ['--dir', folder, '--url', target.url, '--key', target.keys.prod];
  const from = ['--from', source.url, '--from-token', source.personalAccessToken];
  const project = ['--from-project', source.projectRef];
  const exitCode = await main(['import', 'trigger', ...to, ...from, ...project, ...args]);
  vi.restoreAllMocks();
  process.exitCode = undefined;
  // On a loaded machine the first command may take so long to load that it reports its wait.
  const stderr = written.stderr.replace(/^Waiting for \S+ to answer …\n/, '');
  const all = { exitCode, stdout: written.stdout, stderr };
  for (const credential of [secret, source.personalAccessToken, source.keys.prod, target.keys.prod])
    expect(written.stdout + written.stderr).not.toContain(credential);
  return all;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the output has any shape
const lines = (text: string): any[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const schedulesThere = async () =>
  // oxlint-disable-next-line typescript/no-explicit-any -- replies have any shape
  ((await target.ask('/api/v1/schedules?perPage=100')).body.data as any[]).filter(
    ({ type }) => type === 'IMPERATIVE',
  );
const valuesThere = async () =>
  (await target.ask(`/api/v1/projects/${target.projectRef}/envvars`)).body.variables as object;

test('shows its changes, applies them, and finds nothing to do when it is repeated', async () => {
  const dry = await importing();
  expect(dry).toMatchObject({ exitCode: 0, stderr: '' });
  expect(dry.stdout.split('\n').slice(1, -1)).toEqual(
    [
      'set      variable  LOG_LEVEL',
      'keep     variable  REGION      has another value here: --override replaces it',
      'set      variable  STRIPE_KEY  secret',
      'create   schedule  daily       report: 0 9 * * 1-5 Europe/Paris',
      'in code  schedule  imported-' + (await declaredId()) + '  declared by the task declared',
      'waits    schedule  of-cleanup  the task cleanup is not deployed here: deploy it, then import again',
      'create   schedule  paused      report: 0 9 * * 1-5 UTC, inactive',
      '1 of the schedules fires in the source as well: deactivate them there, or import with --inactive and activate them here later.',
      'Nothing was changed. --apply imports 2 variables and 2 schedules.',
    ].map((line) => expect.stringMatching(spaced(line)) as string),
  );
  expect(await valuesThere()).toEqual({ REGION: 'us' });
  expect(await schedulesThere()).toEqual([]);

  const done = await importing('--apply', '--json');
  expect(done.exitCode).toBe(1);
  expect(lines(done.stdout).at(-1)).toEqual({
    applied: true,
    counts: { set: 2, keep: 1, create: 2, 'in-code': 1, 'waits-for-task': 1 },
  });
  expect(await valuesThere()).toEqual({ LOG_LEVEL: 'debug', REGION: 'us', STRIPE_KEY: secret });
  const { body } = await target.ask(`/api/v1/projects/${target.projectRef}/envvars/prod/STRIPE_KEY`);
  expect(body).toMatchObject({ isSecret: true });
  expect(await schedulesThere()).toMatchObject([
    { deduplicationKey: 'paused', active: false, nextRun: null },
    {
      deduplicationKey: 'daily',
      active: true,
      task: 'report',
      timezone: 'Europe/Paris',
      window: '15m',
      externalId: 'user_1',
      generator: { expression: '0 9 * * 1-5' },
    },
  ]);

  const state = JSON.stringify([await valuesThere(), await schedulesThere()]);
  const again = await importing('--apply');
  expect(again.exitCode).toBe(1);
  expect(again.stdout).toMatch(/\nNothing was changed\.\n$/);
  expect(JSON.stringify([await valuesThere(), await schedulesThere()])).toBe(state);

  // With the task, the schedule is imported too; differing values are replaced only on request.
  await deploy(target, [report, declared, cleanup]);
  const rest = await importing('--apply', '--override', '--inactive', '--json');
  expect(rest.exitCode).toBe(0);
  expect(lines(rest.stdout).at(-1)?.counts).toEqual({ same: 4, replace: 1, create: 1, 'in-code': 1 });
  expect(await valuesThere()).toMatchObject({ REGION: 'eu' });
  expect((await schedulesThere())[0]).toMatchObject({ deduplicationKey: 'of-cleanup', active: false });
  expect((await importing('--apply', '--json')).exitCode).toBe(0);
});

async function declaredId(): Promise<string> {
  const { body } = await source.ask('/api/v1/schedules');
  // oxlint-disable-next-line typescript/no-explicit-any -- replies have any shape
  return (body.data as any[]).find(({ type }) => type === 'DECLARATIVE').id as string;
}

/** The columns are as wide as their widest cell. */
const spaced = (line: string): RegExp =>
  new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/ {2,}/g, ' +')}$`);

test('differing values are kept, and a rejected name does not stop the rest', async () => {
  await variable(source, 'OPENSSL_CONF', '/etc/ssl');
  await variable(source, 'EXTRA', '');
  onTestFinished(async () => {
    await source.ask(`/api/v1/projects/${source.projectRef}/envvars/prod/OPENSSL_CONF`, { method: 'DELETE' });
  });
  // A key without the preset `full` may not set variables that programs load code from.
  const created = await target.ask(`/api/v1/projects/${target.projectRef}/prod/keys`, {
    method: 'POST',
    key: target.personalAccessToken,
    body: { name: 'ci', preset: 'variables-only' },
  });
  const args = ['--apply', '--json', '--only', 'variables', '--key', created.body.key as string];
  const { exitCode, stdout, stderr } = await importing(...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  const byName = new Map(lines(stdout).map((line) => [line.name, line]));
  expect(byName.get('OPENSSL_CONF')).toMatchObject({ error: expect.stringContaining('Only administrators') });
  expect(await valuesThere()).toMatchObject({ EXTRA: '' });

  const body = { task: 'report', cron: '5 5 * * *' };
  await source.ask('/api/v1/schedules/paused', { method: 'PUT', body });
  const result = await importing('--apply', '--json', '--only', 'schedules');
  expect(result.exitCode).toBe(0);
  expect(lines(result.stdout)).toContainEqual({
    kind: 'schedule',
    name: 'paused',
    action: 'keep',
    task: 'report',
    active: false,
    note: 'differs here: --override replaces it',
  });
});

test('runs are saved verbatim, and not imported', async () => {
  for (let n = 0; n < 3; n++)
    await source.ask('/api/v1/tasks/report/trigger', { method: 'POST', body: { payload: { n } } });
  const file = join(folder, 'runs.ndjson');
  expect((await importing('--runs', file)).exitCode).toBe(0);
  await expect(stat(file)).rejects.toThrow('ENOENT');
  const { stdout } = await importing('--apply', '--json', '--runs', file, '--period', '1d');
  expect(lines(stdout).at(-1)).toMatchObject({ applied: true, runs: 3, file });
  expect((await stat(file)).mode & 0o077).toBe(0);
  const saved = lines(await readFile(file, 'utf8'));
  expect(saved).toMatchObject([1, 2, 3].map(() => ({ taskIdentifier: 'report', status: 'QUEUED' })));
  expect((await target.ask('/api/v1/runs')).body.data).toEqual([]);
  expect(await importing('--apply', '--runs', file)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('already exists') as string,
  });
});

test('invalid input is reported in one sentence', async () => {
  const refused = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await importing(...args);
    expect(stdout).toBe('');
    return `${exitCode} ${stderr}`;
  };
  expect(await refused('--from-token', 'tr_pat_0000')).toMatch(
    /^4 millrace: \S+ rejected the credential \(401 .*\)\. Use a personal access token of that installation/,
  );
  expect(await refused('--from-token', 'tr_pat_with\nend')).toMatch(/^2 millrace: [^\n]* copy it again\.\n$/);
  expect(await refused('--from-project', 'proj_unknown')).toMatch(
    /^1 millrace: The token cannot access the project proj_unknown and its environment prod at .* Check --from-project and --from-env\.\n$/,
  );
  expect(await refused('--from', 'http://127.0.0.1:59999')).toMatch(
    /^4 millrace: Cannot reach http:\/\/127\.0\.0\.1:59999: .*ECONNREFUSED/,
  );
  expect(await refused('--from', target.url)).toMatch(/^2 millrace: .* cannot be imported into itself/);
  expect(await refused('--from-key', source.keys.stg)).toMatch(
    /^2 millrace: --from-key belongs to stg, but the import reads prod\. Pass the key of prod, or --from-env\.\n$/,
  );
  expect(await refused('--from-key', source.keys.prod, '--from-project', target.projectRef)).toMatch(
    /^1 millrace: .*400 Invalid project ref/,
  );
});

/** A proxy between the command and the source that replies to some requests itself. */
async function before(answer: (path: string, response: ServerResponse) => boolean): Promise<string> {
  const proxy = createServer((request, response) => {
    const path = request.url ?? '';
    if (answer(path, response)) return;
    void fetch(source.url + path, { headers: { authorization: request.headers.authorization ?? '' } }).then(
      (reply) => {
        response.writeHead(reply.status, { 'content-type': 'application/json' });
        Readable.fromWeb(reply.body as never).pipe(response);
      },
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

test('waits for a rate limit, retries where the source fails, and gives up where the wait is long', async () => {
  const requests: string[] = [];
  const url = await before((path, response) => {
    requests.push(path.replace(/\?.*/, ''));
    const count = requests.filter((each) => each === requests.at(-1)).length;
    if (count > 1) return false;
    if (path.includes('/envvars/'))
      response.writeHead(429, { 'retry-after': '0' }).end('{"error":"Rate limit exceeded"}');
    else if (path.includes('/schedules')) response.writeHead(502).end('Bad gateway');
    else return false;
    return true;
  });
  const { exitCode, stderr } = await importing('--from', url);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: `${url} limits the request rate: continuing in 0 s.\n`,
  });

  const slow = await before((_, response) => {
    response.writeHead(429, { 'retry-after': '3600' }).end('{}');
    return true;
  });
  expect(await importing('--from', slow)).toMatchObject({
    exitCode: 1,
    stderr: `millrace: ${slow} limits the request rate. Run the command again in 3600 s.\n`,
  });
  const odd = await before((_, response) => Boolean(response.writeHead(200).end('<html>')));
  expect(await importing('--from', odd)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/Check the address\.\n$/) as string,
  });
});

test('a token without access to the key reads variables only, and lists the secrets to type in', async () => {
  const url = await before((path, response) => {
    if (!/\/projects\/[^/]+\/prod$/.test(path)) return false;
    response.writeHead(403).end('{"error":"Unauthorized"}');
    return true;
  });
  await variable(source, 'TYPED', 'by a person', true);
  expect(await importing('--from', url)).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('or import only variables with --only variables') as string,
  });
  const { exitCode, stdout } = await importing('--from', url, '--only', 'variables', '--apply');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('\n  millrace env set --secret TYPED\n');
  expect(await valuesThere()).not.toHaveProperty('TYPED');
  // With the key, it is read.
  const whole = await importing('--from', url, '--from-key', source.keys.prod, '--apply');
  expect(whole.exitCode).toBe(0);
  expect(await valuesThere()).toMatchObject({ TYPED: 'by a person' });
});

test('reads every page of the schedules', { timeout: 60_000 }, async () => {
  const many = Array.from({ length: 101 }, (_, n) => ({ deduplicationKey: `many-${n}` }));
  await Promise.all(many.map((body) => schedule(source, body)));
  const { exitCode, stdout } = await importing('--apply', '--json', '--only', 'schedules', '--inactive');
  expect(exitCode).toBe(0);
  expect(lines(stdout).at(-1)?.counts).toMatchObject({ create: 101 });
  const { body } = await target.ask('/api/v1/schedules?perPage=1');
  expect(body.pagination.count).toBeGreaterThanOrEqual(103);
});
