import { expect, test } from 'vitest';
import { isAlive } from './testing/alive.ts';
import { startTestRunner, tasksFile } from './testing/runner.ts';

const innocent = "console.log('began'); await sleep(payload); return `slept in ${process.pid}`;";

/** Starts some longer runs and waits until they execute. */
async function withInnocents(
  { peer }: Awaited<ReturnType<typeof startTestRunner>>,
  count: number,
  take = 400,
): Promise<number[]> {
  const fences = Array.from({ length: count }, () => peer.assign('innocent', take));
  await Promise.all(fences.map((fence) => peer.line(`run_${fence}`, 'began')));
  return fences;
}

test('a run that calls process.exit is CRASHED with the position of the call; others in its process complete', async () => {
  const served = await startTestRunner({
    'tasks/all.ts': tasksFile({ innocent, culprit: 'process.exit(3);' }),
  });
  const others = await withInnocents(served, 5);
  const outcome = await served.peer.outcome(served.peer.assign('culprit'));
  expect(outcome).toMatchObject({ kind: 'failed', status: 'CRASHED' });
  expect(JSON.stringify(outcome)).toMatch(/process\.exit\(3\).*tasks\/all\.ts:5:/);
  for (const fence of others) expect(await served.peer.outcome(fence)).toMatchObject({ kind: 'completed' });
});

test('an error in a timer fails only the run that set the timer, by its retry rules', async () => {
  const culprit = "setTimeout(() => { throw new RangeError('aside'); }, 5); await new Promise(() => {});";
  const served = await startTestRunner({ 'tasks/all.ts': tasksFile({ innocent, culprit }) });
  const others = await withInnocents(served, 3);
  const last = served.peer.assign('culprit');
  expect(await served.peer.outcome(last)).toMatchObject({
    kind: 'failed',
    status: 'FAILED',
    error: { name: 'RangeError' },
  });
  const more = served.peer.assign('culprit', null, { maxAttempts: 3 });
  expect(await served.peer.outcome(more)).toMatchObject({ kind: 'retry', error: { message: 'aside' } });
  for (const fence of others) expect(await served.peer.outcome(fence)).toMatchObject({ kind: 'completed' });
  expect(served.peer.lines.filter(({ message }) => message === 'began')).toHaveLength(3);
});

test('an unhandled rejection fails the run it belongs to', async () => {
  const culprit =
    "void (async () => { await sleep(1); throw new Error('floating'); })(); await sleep(5_000);";
  const listens =
    "setTimeout(() => { throw new Error('aside'); }, 1); await sleep(5_000, undefined, { signal });";
  const served = await startTestRunner({ 'tasks/all.ts': tasksFile({ culprit, listens }) });
  const outcome = await served.peer.outcome(served.peer.assign('culprit'));
  expect(outcome).toMatchObject({ kind: 'failed', error: { message: 'floating' } });
  // Code that runs after its signal was aborted does not count either.
  const aborted = await served.peer.outcome(served.peer.assign('listens'));
  expect(aborted).toMatchObject({ kind: 'failed', error: { message: 'aside' } });
});

test('runs of a process that dies for an unknown reason are retried alone; only the one that kills its process is CRASHED', async () => {
  const served = await startTestRunner({
    'tasks/all.ts': tasksFile({ innocent, culprit: "console.error('now'); process.abort();" }),
  });
  const others = await withInnocents(served, 8);
  const outcome = await served.peer.outcome(served.peer.assign('culprit'));
  expect(outcome).toMatchObject({ kind: 'failed', status: 'CRASHED', error: { name: 'ProcessKilled' } });
  const pids = new Set<unknown>();
  for (const fence of others) {
    const settled = await served.peer.outcome(fence);
    expect(settled.kind).toBe('completed');
    pids.add((settled as { output: string }).output);
  }
  expect(pids.size).toBe(others.length);
  expect(await served.peer.outcome(served.peer.assign('innocent', 1))).toMatchObject({ kind: 'completed' });
});

test('a run that exhausts the memory is CRASHED with the limit in its error', async () => {
  const culprit =
    'const kept: unknown[] = []; for (;;) { kept.push(new Array(100_000).fill(payload)); await null; }';
  const served = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ innocent, culprit }) },
    { executorMemory: 48 },
  );
  const others = await withInnocents(served, 2);
  const outcome = await served.peer.outcome(served.peer.assign('culprit', 1));
  expect(outcome).toMatchObject({
    kind: 'failed',
    status: 'CRASHED',
    error: { name: 'OutOfMemory', message: expect.stringContaining('48 MiB') as string },
  });
  for (const fence of others) expect(await served.peer.outcome(fence)).toMatchObject({ kind: 'completed' });
});

test('a run that exhausts the memory is retried once on the out-of-memory machine of its task', async () => {
  const hungry =
    'const kept: unknown[] = []; for (;;) { kept.push(new Array(100_000).fill(payload)); await null; }';
  const file = tasksFile(
    { hungry, killed: "process.kill(process.pid, 'SIGKILL'); await sleep(5_000);" },
    {
      hungry: "retry: { minTimeoutInMs: 7, outOfMemory: { machine: 'small-1x' } },",
      killed: "machine: 'micro', retry: { outOfMemory: { machine: 'small-1x' } },",
    },
  );
  const { peer } = await startTestRunner({ 'tasks/all.ts': file }, { executorMemory: 48 });
  expect(await peer.outcome(peer.assign('hungry'))).toMatchObject({
    kind: 'retry',
    delayMs: 7,
    machine: 'small-1x',
    error: { name: 'OutOfMemory' },
  });
  expect(await peer.outcome(peer.assign('killed'))).toMatchObject({ kind: 'retry', machine: 'small-1x' });
  expect(await peer.outcome(peer.assign('killed', null, { machine: 'small-1x' }))).toMatchObject({
    kind: 'failed',
    status: 'CRASHED',
  });
});

test('a run that blocks its loop is CRASHED after it blocks its own process; the others complete', async () => {
  const served = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ innocent, culprit: 'for (;;) {}' }) },
    { blockedMs: 700 },
  );
  const others = await withInnocents(served, 3);
  const outcome = await served.peer.outcome(served.peer.assign('culprit'));
  expect(outcome).toMatchObject({
    kind: 'failed',
    status: 'CRASHED',
    error: { message: expect.stringContaining('blocked its event loop') as string },
  });
  for (const fence of others) expect(await served.peer.outcome(fence)).toMatchObject({ kind: 'completed' });
});

test('a run that blocks its loop past its maxDuration is TIMED_OUT; others in its process past theirs are not', async () => {
  const { peer } = await startTestRunner({ 'tasks/all.ts': tasksFile({ innocent, culprit: 'for (;;) {}' }) });
  const others = Array.from({ length: 3 }, () => peer.assign('innocent', 400, { maxDuration: 2 }));
  await Promise.all(others.map((fence) => peer.line(`run_${fence}`, 'began')));
  const culprit = peer.assign('culprit', null, { maxDuration: 2 });
  for (const fence of others) expect(await peer.outcome(fence)).toMatchObject({ kind: 'completed' });
  expect(await peer.outcome(culprit)).toMatchObject({ kind: 'failed', status: 'TIMED_OUT' });
});

test('an isolated run may block its loop; one that dies alone is CRASHED without a retry', async () => {
  const busy =
    'console.log("began"); const end = Date.now() + 1_500; while (Date.now() < end); return "computed";';
  const file = tasksFile(
    {
      busy,
      dies: "console.log('again'); await sleep(100); process.kill(process.pid, 'SIGKILL'); await sleep(5_000);",
    },
    { busy: 'isolated: true,', dies: "machine: 'micro'," },
  );
  const { peer } = await startTestRunner({ 'tasks/all.ts': file }, { blockedMs: 500 });
  const fence = peer.assign('dies');
  expect(await peer.outcome(peer.assign('busy'))).toMatchObject({ kind: 'completed', output: 'computed' });
  expect(await peer.outcome(fence)).toMatchObject({
    status: 'CRASHED',
    error: { message: expect.stringContaining('SIGKILL') as string },
  });
  expect(peer.lines.filter(({ run, message }) => run === `run_${fence}` && message === 'again')).toHaveLength(
    1,
  );
});

test('a stop ends the processes and their child processes', async () => {
  const served = await startTestRunner({
    'tasks/all.ts': tasksFile({
      parent:
        "const { spawn } = await import('node:child_process'); console.log(`pid ${spawn('sleep', ['60']).pid}`); await sleep(60_000);",
    }),
  });
  const fence = served.peer.assign('parent');
  const { message } = await served.peer.line(`run_${fence}`, 'pid');
  const pids = [...served.runner.pids(), Number(message.slice(4))];
  await served.runner.stop({ waitMs: 0 });
  expect(pids).toHaveLength(2);
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});
