import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestRunner, tasksFile } from './testing/runner.ts';

test('console output is stored per run, in order, with its level, and echoed', async () => {
  const talk =
    "console.log('one', payload); await sleep(5); console.warn('two %d', 2); console.table([{ a: payload }]); logger.info('three', { of: payload });";
  const { peer, echoed } = await startTestRunner({ 'tasks/all.ts': tasksFile({ talk }) });
  const fences = ['x', 'y'].map((payload) => peer.assign('talk', payload));
  await Promise.all(fences.map((fence) => peer.outcome(fence)));
  for (const [index, fence] of fences.entries()) {
    const lines = peer.lines.filter(({ run }) => run === `run_${fence}`);
    const payload = 'xy'[index] ?? '';
    expect(lines.map(({ level }) => level)).toEqual(['log', 'warn', 'log', 'info']);
    expect(lines[0]?.message).toBe(`one ${payload}`);
    expect(lines[1]?.message).toBe('two 2');
    expect(lines[2]?.message).toContain(`'${payload}'`);
    expect(lines[3]).toMatchObject({ message: 'three', attempt: 1 });
  }
  expect(echoed).toHaveLength(8);
});

test('an attempt that receives a stop signal during the import of its task file does not start', async () => {
  const slow =
    "import { existsSync } from 'node:fs';\n" +
    tasksFile({ alone: "console.log('began');", quick: '' }, { alone: 'isolated: true,' }) +
    "\nwhile (existsSync('latch')) await sleep(20);\nawait sleep(100);\n";
  const { peer, project, runner } = await startTestRunner({ 'tasks/all.ts': slow });
  // Its process is running.
  await peer.outcome(peer.assign('quick'));
  const processes = runner.pids().length;
  await project.write('latch', '');
  const fence = peer.assign('alone');
  await expect.poll(() => runner.pids().length, { timeout: 20_000 }).toBe(processes + 1);
  peer.send({ type: 'cancel', fences: [fence] });
  // Messages are processed in order, so it has received the earlier one.
  await peer.outcome(peer.assign('quick'));
  await rm(join(project.dir, 'latch'));
  expect(await peer.outcome(fence)).toEqual({ kind: 'canceled' });
  expect(peer.lines).toEqual([]);
});

test("a run's lines reach the server before its settlement", async () => {
  const { peer } = await startTestRunner({
    'tasks/all.ts': tasksFile({ talk: "console.log('last words');" }),
  });
  await peer.outcome(peer.assign('talk'));
  const types = peer.received.map(({ type }) => type).filter((type) => type === 'log' || type === 'settle');
  expect(types).toEqual(['log', 'settle']);
});

test('the stack of an error names the line of the TypeScript file', async () => {
  const shared =
    'interface Unused { a: 1 }\n\nexport function fails(): never {\n  throw new TypeError("here");\n}\n';
  const { peer } = await startTestRunner({
    'lib/fails.ts': shared,
    'tasks/a.ts':
      "import { task } from '@millrace/sdk';\nimport { fails } from '../lib/fails.ts';\nexport const a = task({ id: 'a', run: async () => fails() });\n",
    'tasks/b.ts': "import { fails } from '../lib/fails.ts';\nexport const b = fails;\n",
  });
  const outcome = await peer.outcome(peer.assign('a'));
  expect(outcome).toMatchObject({ kind: 'failed', status: 'FAILED', error: { name: 'TypeError' } });
  expect(JSON.stringify(outcome)).toMatch(/at fails \([^)]*lib\/fails\.ts:4:9\).*tasks\/a\.ts:3:/);
});

test('a canceled run receives its signal and ends as CANCELED', async () => {
  const listens =
    "console.log('began'); await new Promise((done) => signal.addEventListener('abort', done)); console.log('saw it');";
  const { peer } = await startTestRunner({ 'tasks/all.ts': tasksFile({ listens }) });
  const fence = peer.assign('listens');
  await peer.line(`run_${fence}`, 'began');
  peer.send({ type: 'cancel', fences: [fence] });
  expect(await peer.outcome(fence)).toEqual({ kind: 'canceled' });
  expect(await peer.line(`run_${fence}`, 'saw it')).toBeDefined();
});

test('a run that ignores its cancellation ends after the grace period; other runs of its process complete', async () => {
  const { peer, runner } = await startTestRunner({
    'tasks/all.ts': tasksFile({
      unresponsive: "console.log('began'); await sleep(60_000);",
      beside: "console.log('began'); await sleep(1_500); return process.pid;",
    }),
  });
  const [unresponsive, beside] = [peer.assign('unresponsive'), peer.assign('beside')];
  await Promise.all([peer.line(`run_${unresponsive}`, 'began'), peer.line(`run_${beside}`, 'began')]);
  const [pid] = runner.pids();
  peer.send({ type: 'cancel', fences: [unresponsive] });
  expect(await peer.outcome(unresponsive)).toEqual({ kind: 'canceled' });
  expect(peer.outcomes.has(beside)).toBe(false);
  expect(await peer.outcome(beside)).toMatchObject({ kind: 'completed', output: String(pid) });
  const next = await peer.outcome(peer.assign('beside'));
  expect(next).not.toMatchObject({ output: String(pid) });
});

test('a run that exceeds its maxDuration is TIMED_OUT, whether it cooperates, ignores its signal or blocks its loop', async () => {
  const { peer } = await startTestRunner({
    'tasks/all.ts': tasksFile({
      listens: 'await sleep(60_000, undefined, { signal });',
      unresponsive: 'await sleep(60_000);',
      blocks: 'for (;;) {}',
      beside: 'await sleep(200); return "done";',
    }),
  });
  const listens = peer.assign('listens', null, { maxDuration: 1 });
  const unresponsive = peer.assign('unresponsive', null, { maxDuration: 1 });
  expect(await peer.outcome(listens)).toMatchObject({ kind: 'failed', status: 'TIMED_OUT' });
  expect(await peer.outcome(unresponsive)).toMatchObject({ kind: 'failed', status: 'TIMED_OUT' });
  const blocks = peer.assign('blocks', null, { maxDuration: 1 });
  const beside = peer.assign('beside');
  expect(await peer.outcome(blocks)).toMatchObject({ kind: 'failed', status: 'TIMED_OUT' });
  expect(await peer.outcome(beside)).toMatchObject({ kind: 'completed', output: 'done' });
});

test('runs start with the current variables of the environment and those of the SDK', async () => {
  const env =
    'return [process.env.PLANET, process.env.MILLRACE_API_URL, typeof process.env.MILLRACE_SECRET_KEY, process.cwd()];';
  const { peer, project } = await startTestRunner({ 'tasks/all.ts': tasksFile({ env }) }, {}, (prepared) => {
    prepared.variables = { PLANET: 'Mars' };
  });
  const outputOf = async (): Promise<unknown> =>
    JSON.parse(((await peer.outcome(peer.assign('env'))) as { output: string }).output);
  expect(await outputOf()).toEqual(['Mars', peer.url, 'undefined', project.dir]);
  peer.send({ type: 'variables', variables: { PLANET: 'Venus' } });
  expect(await outputOf()).toEqual(['Venus', peer.url, 'undefined', project.dir]);
});

test("a task with a machine runs in its own process with that machine's memory", async () => {
  const limit =
    "const { getHeapStatistics } = await import('node:v8'); return [process.pid, getHeapStatistics().heap_size_limit >> 20];";
  const { peer } = await startTestRunner({
    'tasks/all.ts': tasksFile({ limit }, { limit: "machine: 'micro'," }),
  });
  const outputs = await Promise.all(
    [peer.assign('limit'), peer.assign('limit')].map(async (fence) => {
      const outcome = (await peer.outcome(fence)) as { output: string };
      return JSON.parse(outcome.output) as [number, number];
    }),
  );
  expect(outputs[0]?.[0]).not.toBe(outputs[1]?.[0]);
  for (const [, megabytes] of outputs) expect(megabytes).toBeLessThan(400);
});

test('reports an attempt whose task is not in the version', async () => {
  const { peer } = await startTestRunner({ 'tasks/all.ts': tasksFile({ known: '' }) });
  expect(await peer.outcome(peer.assign('unknown'))).toEqual({ kind: 'unknownTask' });
});

test("a project's defaults apply to tasks without their own settings", async () => {
  const { peer } = await startTestRunner({
    'millrace.config.ts':
      "import { defineConfig } from 'millrace';\nexport default defineConfig({ dirs: ['jobs'], retry: { maxAttempts: 2, minTimeoutInMs: 7, randomize: false }, maxDuration: 9 });",
    'jobs/a.ts': tasksFile({ fails: "throw new Error('no');" }),
  });
  expect(peer.registered[0]?.tasks).toMatchObject([
    { id: 'fails', retry: { maxAttempts: 2 }, maxDuration: 9 },
  ]);
  expect(await peer.outcome(peer.assign('fails', null, { maxAttempts: null }))).toMatchObject({
    kind: 'retry',
    delayMs: 7,
  });
});
