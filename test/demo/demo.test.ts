/** `millrace demo`, from the published form of the packages, in an otherwise empty folder. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { descendants, isAlive, millrace, type Ready, type Running } from '../cli/command.ts';
import { installAll, packAll, type Packed } from '../packages/packed.ts';

interface Summary extends Ready {
  readonly folder: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly open: Readonly<Record<string, string | null>>;
}

let packed: Packed;
let bin: string;
let temporary: string;

beforeAll(async () => {
  packed = await packAll();
  const project = join(packed.folder, 'anywhere');
  temporary = join(packed.folder, 'temporary');
  await mkdir(temporary);
  await installAll(packed, project);
  bin = join(project, 'node_modules/millrace/bin/millrace.js');
}, 240_000);
afterAll(() => packed?.remove());

const start = (...args: string[]): Running =>
  millrace(['demo', '--port', '0', ...args], { cwd: packed.folder, bin, env: { TMPDIR: temporary } });

async function executorsOf(demo: Running): Promise<number[]> {
  const processes = await descendants(demo.pid);
  const commands = await Promise.all(
    processes.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return processes.filter((_, index) => /millrace\/dist\/executor\//.test(commands[index] ?? ''));
}

/** Ctrl-C, and then neither a process nor a file is left. */
async function endsCleanly(demo: Running): Promise<void> {
  const processes = await descendants(demo.pid);
  expect(processes).not.toEqual([]);
  expect(await readdir(temporary)).not.toEqual([]);
  demo.kill('SIGINT');
  expect(await demo.exitCode).toBe(0);
  await expect.poll(async () => (await Promise.all(processes.map(isAlive))).includes(true)).toBe(false);
  expect(await readdir(temporary)).toEqual([]);
}

describe('a shop that is filled once', () => {
  let demo: Running;
  let summary: Summary;

  beforeAll(async () => {
    demo = start('--once');
    summary = JSON.parse(await demo.line(/^\{"url"/)) as Summary;
  }, 120_000);
  afterAll(() => demo?.kill('SIGKILL'));

  const get = async <T>(path: string, token = summary.environments.prod.secretKey): Promise<T> => {
    const response = await fetch(`${summary.url}/api/${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    return (await response.json()) as T;
  };

  /** The items of a list with cursor pagination. */
  async function all(path: string): Promise<Record<string, unknown>[]> {
    interface Page {
      readonly data: Record<string, unknown>[];
      readonly pagination?: { readonly next?: string };
    }
    const found: Record<string, unknown>[] = [];
    const separator = path.includes('?') ? '&' : '?';
    let after = '';
    do {
      const { data, pagination } = await get<Page>(`${path}${after && `${separator}page[after]=${after}`}`);
      found.push(...data);
      after = pagination?.next ?? '';
    } while (after !== '');
    return found;
  }

  test('contains everything that its summary counts', async () => {
    const { projectRef } = summary;
    const inProject = `v1/projects/${projectRef}`;
    const queues = (await get<{ data: { paused: boolean }[] }>('v1/queues?perPage=100')).data;
    const schedules = (
      await get<{ data: { active: boolean; timezone: string }[] }>('v1/schedules?perPage=100')
    ).data;
    const [organization] = await get<{ id: string }[]>('v1/orgs', summary.personalAccessToken);
    const found = {
      tasks: (await all('v1/tasks')).length,
      versions: (await all('v1/deployments')).length,
      errorGroups: (await all('v1/errors?page[size]=50')).length,
      schedules: schedules.length,
      inactiveSchedules: schedules.filter(({ active }) => !active).length,
      timezones: new Set(schedules.map(({ timezone }) => timezone)).size,
      queues: queues.length,
      pausedQueues: queues.filter(({ paused }) => paused).length,
      sessions: (await all('v1/sessions')).length,
      waitingTokens: (await all('v1/waitpoints/tokens?filter[status]=WAITING')).length,
      bulkActions: (await all('v1/bulk-actions')).length,
      events: (await all('v1/events')).length,
      endpoints: (await all(`${inProject}/notifications/prod/endpoints`)).length,
      alerts: (await all(`${inProject}/alerts/prod`)).length,
      variables: (await get<unknown[]>(`${inProject}/envvars/prod`)).length,
      revisions: (await all(`${inProject}/envvar-revisions/prod`)).length,
      members: (await get<unknown[]>(`v1/orgs/${organization?.id}/members`, summary.personalAccessToken))
        .length,
    };
    const { runs, ...counts } = summary.counts;
    expect(found).toEqual(counts);
    // The schedule of every minute continues.
    expect((await get<{ count: number }>('v1/runs/count')).count).toBeGreaterThanOrEqual(runs ?? Infinity);
  });

  test('contains as much as its description promises', () => {
    const { counts } = summary;
    expect(counts).toMatchObject({
      versions: 3,
      inactiveSchedules: 1,
      pausedQueues: 1,
      sessions: 5,
      waitingTokens: 7,
      bulkActions: 2,
      endpoints: 3,
      alerts: 5,
      members: 5,
    });
    expect(counts['tasks']).toBeGreaterThanOrEqual(15);
    expect(counts['errorGroups']).toBeGreaterThanOrEqual(38);
    expect(counts['timezones']).toBeGreaterThanOrEqual(8);
    expect(counts['runs']).toBeGreaterThan(400);
    expect(counts['events']).toBeGreaterThan(40);
  });

  test('names one object of each kind to open', async () => {
    const missing = Object.entries(summary.open).filter(([, id]) => id === null);
    expect(missing).toEqual([]);
    const statusOf = async (name: string): Promise<string> =>
      (await get<{ status: string }>(`v3/runs/${summary.open[name]}`)).status;
    expect({
      failed: await statusOf('failedRun'),
      crashed: await statusOf('crashedRun'),
      timedOut: await statusOf('timedOutRun'),
      expired: await statusOf('expiredRun'),
      waiting: await statusOf('waitingRun'),
      queued: await statusOf('queuedRun'),
      pending: await statusOf('pendingVersionRun'),
    }).toEqual({
      failed: 'FAILED',
      crashed: 'CRASHED',
      timedOut: 'TIMED_OUT',
      expired: 'EXPIRED',
      waiting: 'WAITING',
      queued: 'QUEUED',
      pending: 'PENDING_VERSION',
    });
  });

  test('has tasks with JSON Schemas, runs of three versions and errors in all states', async () => {
    const tasks = (await all('v1/tasks')) as { id: string }[];
    const schemas = await Promise.all(
      tasks.map(async ({ id }) => (await get<{ payloadSchema?: object }>(`v1/tasks/${id}`)).payloadSchema),
    );
    expect(schemas.filter(Boolean).length).toBeGreaterThanOrEqual(15);
    const failed = (await all('v1/runs?filter[status]=FAILED&page[size]=100')) as { version: string }[];
    expect(new Set(failed.map(({ version }) => version)).size).toBe(3);
    const groups = (await all('v1/errors?page[size]=100')) as { status: string }[];
    expect(new Set(groups.map(({ status }) => status))).toEqual(
      new Set(['unresolved', 'resolved', 'ignored']),
    );
    const history = await all(`v1/errors/${summary.open['regressedErrorGroup']}/history`);
    expect(JSON.stringify(history)).toContain('regressed');
    const ticks = await all(`v1/schedules/${summary.open['scheduleWithMissedTicks']}/ticks`);
    expect(JSON.stringify(ticks)).toContain('missed');
  });

  test('shows source lines of the shop in its errors', async () => {
    interface Failed {
      readonly error: { readonly name: string; readonly stackTrace: string };
      readonly version: string;
    }
    // They fail for several reasons, in any order.
    const failed = await all('v1/runs?filter[taskIdentifier]=reserve-stock&filter[status]=FAILED');
    const runs = await Promise.all(failed.map(({ id }) => get<Failed>(`v3/runs/${String(id)}`)));
    const { error, version } = runs.find((run) => run.error.name === 'OutOfStock') as Failed;
    const [, file, line] = /\((\S*lib\/erp\.ts):(\d+)/.exec(error.stackTrace) ?? [];
    const source = await get<{ file: string; lines: { number: number; text: string }[] }>(
      `v1/deployments/${version}/source?file=${encodeURIComponent(file as string)}&line=${line}`,
    );
    expect(source.file).toBe('lib/erp.ts');
    expect(source.lines.find(({ number }) => number === Number(line))?.text).toContain('throw');
  });

  test('leaves nothing behind', () => endsCleanly(demo), 60_000);
});

test('a shop that is stopped while it is filled leaves nothing behind', async () => {
  const demo = start();
  await demo.line(/orders of the first/);
  // Runs are executing.
  await expect.poll(() => executorsOf(demo)).not.toEqual([]);
  await endsCleanly(demo);
}, 120_000);
