import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { testedProject } from './project.ts';

const tasks = `
import { task } from '@millrace/sdk';
export const add = task({ id: 'add', run: async (n) => n + 1 });
export const nap = task({ id: 'nap', run: () => new Promise((resolve) => setTimeout(resolve, 5_000)) });`;

const file = (bodies: Readonly<Record<string, string>>): string => `
import { useMillrace } from '@millrace/testing/vitest';
import { expect, test } from 'vitest';
import { add, nap } from './tasks.js';
const kit = useMillrace({ tasks: [add, nap] });
${Object.entries(bodies)
  .map(([name, body]) => `test('${name}', async () => {\n  ${body}\n});`)
  .join('\n')}`;

/** A separate cache, as at the start of an installation. */
async function cache(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cache-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));
  return folder;
}

const hostOf = async (folder: string): Promise<{ dir: string; pid: number } | undefined> => {
  const name = (await readdir(folder)).find((entry) => entry.startsWith('testing-'));
  const dir = join(folder, name ?? 'none');
  const text = await readFile(join(dir, 'host.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : { dir, pid: (JSON.parse(text) as { pid: number }).pid };
};

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('eight files in parallel share one host, started by the first, which ends after the last', async () => {
  const names = Array.from({ length: 8 }, (_, n) => `f${n}`);
  const files = Object.fromEntries(
    names.map((name, n) => [
      `${name}.test.js`,
      file({
        [name]: `for (const m of [1, 2, 3]) await add.trigger(${n * 10} + m);
  expect(await kit.drain()).toEqual([]);
  expect((await kit.runsOf(add)).map((run) => run.output)).toEqual([2, 3, 4].map((m) => ${n * 10} + m));
  expect((await kit.advance('${n + 1} days')).length).toBe(0);
  expect(Math.abs(kit.now().getTime() - Date.now())).toBeLessThan(500);`,
      }),
    ]),
  );
  const project = await testedProject({ 'tasks.js': tasks, ...files });
  const folder = await cache();
  const { output, code } = await project.run(
    'vitest',
    ['run', '--maxWorkers', '8', '--testTimeout', '60000'],
    {
      MILLRACE_TEST_CACHE: folder,
    },
  );
  expect(output).toMatch(/Tests +8 passed/);
  expect(code).toBe(0);
  await eventually(
    () => hostOf(folder),
    (host) => host === undefined,
    15_000,
  );
}, 120_000);

const forgetful: Record<string, readonly [body: string, sentence: RegExp]> = {
  matcher: [
    'void expect(add).toHaveCompleted().catch(() => {});',
    /expect\(add\)\.toHaveCompleted\(\) at .*forgetful\.test\.js:\d+:\d+ had not finished: write `await` before it/,
  ],
  trigger: [
    'void add.trigger(1);',
    /The request POST \/api\/v1\/tasks\/add\/trigger had not finished: write `await`/,
  ],
  run: [
    'await nap.trigger();\n  await new Promise((resolve) => setTimeout(resolve, 300));',
    /The code of task "nap" \(run_\w+\) was still executing: write `await kit\.drain\(\)`/,
  ],
  drain: [
    'await nap.trigger();\n  void kit.drain().catch(() => {});',
    /kit\.drain\(\) at .*forgetful\.test\.js:\d+:\d+ had not finished/,
  ],
};

test('a test that lacks an await fails with instructions', async () => {
  const bodies = Object.fromEntries(Object.entries(forgetful).map(([name, [body]]) => [name, body]));
  const project = await testedProject({ 'tasks.js': tasks, 'forgetful.test.js': file(bodies) });
  const { output, code } = await project.run('vitest', ['run']);
  expect(code).toBe(1);
  for (const [, sentence] of Object.values(forgetful)) expect(output).toMatch(sentence);
  expect(output).toMatch(/Tests +4 failed/);
}, 60_000);

test('a killed host is replaced, and a killed process leaves nothing behind', async () => {
  const project = await testedProject({
    'tasks.js': tasks,
    'hold.mjs': `
import { createTestKit } from '@millrace/testing';
import { add } from './tasks.js';
await createTestKit({ tasks: [add] });
console.log('open');
setInterval(() => {}, 1000);`,
    'once.mjs': `
import { createTestKit } from '@millrace/testing';
import { add } from './tasks.js';
const kit = await createTestKit({ tasks: [add] });
await add.trigger(1);
console.log((await kit.drain()).length, (await kit.runsOf(add))[0].output);
await kit.close();`,
  });
  const folder = await cache();
  const env = { ...process.env, MILLRACE_TEST_CACHE: folder, MILLRACE_TEST_IDLE_MS: '500' };
  const hold = async () => {
    const child = spawn(process.execPath, ['hold.mjs'], {
      cwd: project.dir,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    return child;
  };
  const first = await hold();
  const host = await hostOf(folder);
  process.kill(host!.pid, 'SIGKILL');
  first.kill('SIGKILL');
  const { output } = await project.run('node', ['once.mjs'], { MILLRACE_TEST_CACHE: folder });
  expect(output).toBe('0 2\n');

  const second = await hold();
  const next = await hostOf(folder);
  expect(next?.pid).not.toBe(host?.pid);
  second.kill('SIGKILL');
  await eventually(
    async () => isAlive(next!.pid),
    (alive) => !alive,
    15_000,
  );
  expect(await hostOf(folder)).toBeUndefined();
}, 120_000);
