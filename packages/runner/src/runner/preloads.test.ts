import { expect, test } from 'vitest';
import { startTestRunner, tasksFile } from './testing/runner.ts';

const report = 'return (globalThis as any).began;';
const files = {
  // Sorts before init.ts, but depends on a value that init.ts sets.
  'tasks/a.ts': `(globalThis as any).began.push('a');\n${tasksFile(
    {
      shared: report,
      alone: report,
      sized: report,
      suspect: `const { existsSync, writeFileSync } = await import('node:fs'); if (!existsSync('once')) { writeFileSync('once', ''); process.abort(); } ${report}`,
    },
    { alone: 'isolated: true,', sized: "machine: 'micro'," },
  )}`,
  'tasks/init.ts': `
    import { tasks } from '@millrace/sdk';
    (globalThis as any).began = ['init'];
    tasks.middleware('first', async ({ next }) => { console.log('middleware'); await next(); });
  `,
  // A file without tasks, whose hooks apply to all tasks.
  'tasks/z-hooks.ts': `
    import { tasks } from '@millrace/sdk';
    (globalThis as any).began.push('hooks');
    tasks.onSuccess(() => console.log('onSuccess'));
  `,
};

test('every process imports init.ts and files that register hooks for all tasks, before its tasks', async () => {
  const { peer, problems } = await startTestRunner(files);
  expect(problems).toEqual([]);
  for (const task of ['shared', 'alone', 'sized', 'suspect']) {
    const fence = peer.assign(task);
    expect([task, await peer.outcome(fence)]).toMatchObject([
      task,
      { kind: 'completed', output: '["init","hooks","a"]' },
    ]);
    const lines = peer.lines.filter(({ run }) => run === `run_${fence}`).map(({ message }) => message);
    expect([task, ...lines.slice(-2)]).toEqual([task, 'middleware', 'onSuccess']);
  }
});

test('no task runs in a process where a file with hooks for all of them cannot be imported', async () => {
  const { peer } = await startTestRunner({
    ...files,
    'tasks/z-hooks.ts': `${files['tasks/z-hooks.ts']}\nif (process.env.BROKEN) throw new Error('no pager today');`,
  });
  peer.send({ type: 'variables', variables: { BROKEN: 'yes' } });
  for (const task of ['shared', 'alone', 'sized'])
    expect([task, await peer.outcome(peer.assign(task))]).toMatchObject([
      task,
      { kind: 'failed', status: 'FAILED', error: { name: 'Error', message: 'no pager today' } },
    ]);
});
