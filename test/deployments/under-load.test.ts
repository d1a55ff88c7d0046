/**
 * All parts of deployments, in processes of their own: a project with a workspace package is deployed, rolled back and forward under a
 * steady load, while runners are killed and replaced by empty ones, and old runners return. A long run adds native packages and more kills.
 * `MILLRACE_TRIAL=full` uses production sizes, which takes some minutes, and prints figures.
 */
import { mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { millrace, type Running } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import {
  deployedProject,
  startInstallation,
  taskFile,
  type DeployedProject,
  type Installation,
} from './installation.ts';
import { nativeProject, openPrisma, prisma, prismaFiles } from './native-project.ts';

const isFull = process.env['MILLRACE_TRIAL'] === 'full';
// Each runner is killed at least once, and the version changes in both directions.
const short = { rate: 20, switches: 2, pauseMs: 500, restarts: 1, native: {} };
const long = { ...short, switches: 4, restarts: 3, native: { esbuild: '^0.28.0' } };
const full = {
  rate: 100,
  switches: 12,
  pauseMs: 3_000,
  restarts: 100,
  native: { sharp: '^0.34.0', esbuild: '^0.28.0', ...prisma },
};
const size = isFull ? full : isLong ? long : short;
const isNative = size !== short;

let installation: Installation;
const folders: string[] = [];
const started: Running[] = [];
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(async () => {
  for (const process of started) process.kill('SIGKILL');
  await Promise.all(started.map(({ exitCode }) => exitCode));
  await installation.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const newFolder = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-load-')));
  folders.push(folder);
  return folder;
};

async function startRunner(cwd: string): Promise<Running> {
  const runner = millrace(['work', '--json', '--cache', join(cwd, 'cache')], {
    cwd,
    env: { MILLRACE_API_URL: installation.url, MILLRACE_SECRET_KEY: installation.keys.prod },
  });
  started.push(runner);
  await runner.line(/^\{"runner"/);
  return runner;
}

/** Like a new container: it has only an address and a key. */
const emptyRunner = async (): Promise<Running> => startRunner(await newFolder());

/** An image, and a row in a database of this attempt. */
const engines = `
  await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } }).png().toBuffer();
  const users = await openUsers(payload.file + '.' + ctx.run.id + '.' + process.pid);
  await users.user.create({ data: { name: ctx.run.id + performance.now() } });
  if ((await users.user.count()) === 0) throw new Error('prisma');
  await users.$disconnect();`;

const compile = `
  const { code } = await transform('const a: number = 1', { loader: 'ts' });
  if (code !== 'const a = 1;\\n') throw new Error('esbuild');`;

/** Records its run, version and runner, and uses packages that cannot be bundled. */
const ring = `
import { appendFile } from 'node:fs/promises';
import { task } from '@millrace/sdk';
${isNative ? `import { transform } from 'esbuild';` : ''}
${isFull ? `import sharp from 'sharp';${openPrisma}` : ''}
import { text } from 'shared';
export const ring = task({
  id: 'ring',
  run: async (payload: { file: string; n: number }, { ctx }) => {
    if (payload.n % 10 === 0) {
      ${isNative ? compile : ''}
      ${isFull ? engines : ''}
    }
    await appendFile(payload.file, JSON.stringify([ctx.run.id, text, process.ppid, Date.now()]) + '\\n');
    return text;
  },
});`;

const shared = (text: string): string => `export const text: string = '${text}';`;

async function projectOf(): Promise<DeployedProject> {
  const files = { 'packages/shared/index.ts': shared('one'), 'tasks/ring.ts': ring };
  const { prod } = installation.keys;
  if (isNative)
    return nativeProject(installation, prod, size.native, { ...(isFull && prismaFiles), ...files });
  const project = await deployedProject(installation, prod, {
    'packages/shared/package.json': '{"name":"shared","version":"1.0.0","exports":"./index.ts"}',
    ...files,
  });
  // As npm links a workspace.
  await symlink(join(project.dir, 'packages/shared'), join(project.dir, 'node_modules/shared'));
  return project;
}

interface RunMessage {
  readonly id: string;
  readonly status: string;
  readonly output: string;
  readonly version: string;
}

async function call<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(installation.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${installation.keys.prod}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const currentVersion = async (): Promise<string> =>
  (await call<{ version: string }>('/api/v1/deployments/current')).version;

/** Triggers at a steady rate until it is stopped. Returns the acknowledged runs. */
function startLoad(file: string): { stop(): Promise<string[]>; readonly slowestMs: () => number } {
  const all: Promise<string>[] = [];
  const startedAt = performance.now();
  let slowest = 0;
  const timer = setInterval(() => {
    while (all.length < ((performance.now() - startedAt) / 1_000) * size.rate) {
      const at = performance.now();
      const n = all.length;
      all.push(
        call<{ id: string }>('/api/v1/tasks/ring/trigger', { payload: { file, n } }).then(({ id }) => {
          slowest = Math.max(slowest, performance.now() - at);
          return id;
        }),
      );
    }
  }, 5);
  return {
    slowestMs: () => Math.round(slowest),
    stop: () => {
      clearInterval(timer);
      return Promise.all(all);
    },
  };
}

test(
  'under load no run is lost, doubled or on the wrong version during promotions, rollbacks and kills',
  async () => {
    const project = await projectOf();
    const runners = [await emptyRunner(), await emptyRunner()];
    const first = await project.run('deploy');
    expect(first).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
    const file = join(await newFolder(), 'effects');
    const load = startLoad(file);
    // The load must also stop after a failure.
    onTestFinished(() => void load.stop().catch(() => undefined));

    await project.write('packages/shared/index.ts', shared('two'));
    const second = await project.run('deploy');
    expect(second).toMatchObject({ exitCode: 0, json: { isCurrent: true, replaced: first.json.version } });
    const texts: Record<string, string> = { [first.json.version]: 'one', [second.json.version]: 'two' };

    /** The time at which each killed runner died, by its process id. */
    const killed = new Map<number, number>();
    for (let n = 0; n < size.switches; n += 1) {
      // Both runners are replaced in turn, so later rollbacks lead to a version that no runner has loaded.
      const victim = runners[n % 2] as Running;
      killed.set(victim.pid, Date.now());
      victim.kill('SIGKILL');
      const [replaced] = await Promise.all([
        emptyRunner(),
        n % 2 === 0
          ? project.run('versions', 'rollback')
          : project.run('versions', 'promote', second.json.version),
      ]).then(([runner, ended]) => {
        expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
        return [runner];
      });
      runners[n % 2] = replaced as Running;
      expect(await currentVersion()).toBe(n % 2 === 0 ? first.json.version : second.json.version);
      await sleep(size.pauseMs);
    }

    const ids = await load.stop();
    const runs = new Map<string, RunMessage>();
    const drainedFrom = performance.now();
    await expect
      .poll(
        async () => {
          const open = ids.filter((id) => !runs.has(id)).slice(0, 500);
          for (const run of await Promise.all(open.map((id) => call<RunMessage>(`/api/v3/runs/${id}`))))
            if (['COMPLETED', 'FAILED', 'CRASHED', 'SYSTEM_FAILURE'].includes(run.status))
              runs.set(run.id, run);
          return ids.length - runs.size;
        },
        { timeout: 40_000, interval: 200 },
      )
      .toBe(0);
    const drainMs = Math.round(performance.now() - drainedFrom);

    const effects = new Map<string, { text: string; runner: number; at: number }[]>();
    for (const line of (await readFile(file, 'utf8')).trim().split('\n')) {
      const [id, text, runner, at] = JSON.parse(line) as [string, string, number, number];
      effects.set(id, [...(effects.get(id) ?? []), { text, runner, at }]);
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect([...effects.keys()].toSorted()).toEqual([...ids].toSorted());
    const wrong = [...runs.values()].filter(({ id, status, output, version }) => {
      const done = effects.get(id) ?? [];
      return (
        status !== 'COMPLETED' ||
        done.some(({ text }) => text !== texts[version]) ||
        output !== texts[version]
      );
    });
    expect(wrong).toEqual([]);
    // Only the last actions of a runner before it was killed may be repeated: they had not been reported yet.
    const again = [...effects.values()].filter((done) => done.length > 1);
    const doubled = again.filter(
      (done) =>
        done.filter(({ runner, at }) => at < (killed.get(runner) ?? 0) - 1_000 || !killed.has(runner))
          .length > 1,
    );
    expect(doubled).toEqual([]);
    const ended = (text: string): number => [...runs.values()].filter(({ output }) => output === text).length;
    expect(Math.min(ended('one'), ended('two'))).toBeGreaterThan(0);

    // An old-style runner: a folder whose code is neither current nor deployed, restarted repeatedly.
    const old = await deployedProject(installation, installation.keys.prod, {
      'tasks/ring.ts': taskFile('ring', "'old'"),
    });
    const before = await currentVersion();
    const restartedFrom = performance.now();
    for (let n = 0; n < size.restarts; n += 1) {
      const restarted = await startRunner(old.dir);
      if (n % 10 === 0) {
        const { id } = await call<{ id: string }>('/api/v1/tasks/ring/trigger', { payload: { file, n } });
        await expect
          .poll(async () => (await call<RunMessage>(`/api/v3/runs/${id}`)).status, { timeout: 20_000 })
          .toBe('COMPLETED');
        expect(await call<RunMessage>(`/api/v3/runs/${id}`)).toMatchObject({
          version: before,
          output: texts[before],
        });
      }
      restarted.kill(n % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      await restarted.exitCode;
      expect(await currentVersion()).toBe(before);
    }
    if (isFull)
      console.log(
        JSON.stringify({
          runs: ids.length,
          onFirst: ended('one'),
          onSecond: ended('two'),
          kills: killed.size,
          executedAgain: again.length,
          slowestTriggerMs: load.slowestMs(),
          drainMs,
          restarts: size.restarts,
          restartMs: Math.round((performance.now() - restartedFrom) / size.restarts),
        }),
      );
  },
  isFull ? 1_800_000 : 120_000,
);
