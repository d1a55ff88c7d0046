import { expect, test } from 'vitest';
import { pipeFaults } from '../executor/read-message.ts';
import { startTestRunner, tasksFile } from './testing/runner.ts';

const forged = (run: string): string =>
  JSON.stringify({
    type: 'progress',
    settlements: [{ run, fence: Number(run.slice(4)), outcome: { kind: 'failed', status: 'CRASHED' } }],
    lines: [],
  });

/** Code of a task, and the reason why its process ends. */
const cases: Readonly<Record<string, readonly [code: string, why: string]>> = {
  text: ["writeSync(3, 'not json\\n');", pipeFaults.foreign],
  nothing: ["writeSync(3, 'null\\n');", pipeFaults.foreign],
  outline: [`writeSync(3, '{"type":"progress"}\\n');`, pipeFaults.foreign],
  unknownType: [`writeSync(3, '{"type":"other"}\\n');`, pipeFaults.foreign],
  deep: [`writeSync(3, '['.repeat(50_000) + '\\n');`, pipeFaults.foreign],
  binary: ['writeSync(3, Buffer.from([0, 255, 128, 10, 200, 10]));', pipeFaults.foreign],
  // The next line of Millrace continues it.
  unended: ["writeSync(3, 'without an end'); console.log('and a line');", pipeFaults.foreign],
  forged: [
    `writeSync(3, ${JSON.stringify(`${forged('run_1')}\n${forged('run_2')}\n`)});`,
    pipeFaults.foreign,
  ],
  // Without a pause, so that no Millrace output terminates the line.
  endless: [
    "const piece = Buffer.alloc(65_536, 'x'); for (let sent = 0; sent < 2 ** 26; ) try { sent += writeSync(3, piece); } catch (error) { if ((error as any).code !== 'EAGAIN') throw error; }",
    pipeFaults.tooLong,
  ],
  // Repeats until it has read something that the runner sent.
  consumed: [
    "for (const taken = Buffer.alloc(65_536); ; ) try { if (readSync(3, taken) > 0) break; } catch (error) { if ((error as any).code !== 'EAGAIN') throw error; }",
    pipeFaults.consumed,
  ],
  closed: ['closeSync(3);', pipeFaults.closed],
};

test('code that writes to or closes the pipe of its process ends only that process and fails its run', async () => {
  const bodies = Object.fromEntries(
    Object.entries(cases).map(([name, [code]]) => [
      name,
      `console.log('began'); await sleep(payload); ${code} await sleep(60_000);`,
    ]),
  );
  const file = `import { closeSync, readSync, writeSync } from 'node:fs';\nvoid closeSync; void readSync; void writeSync;\n${tasksFile(
    {
      ...bodies,
      innocent: "console.log('began'); await sleep(payload); return 'done';",
      later: "setTimeout(() => writeSync(3, 'x\\n'), 50); return 'done';",
    },
  )}`;
  const { peer, runner } = await startTestRunner({ 'tasks/all.ts': file });
  const innocents = [1, 2].map(() => peer.assign('innocent', 1_500));
  const culprits = Object.keys(cases).map((name) => [name, peer.assign(name, 500)] as const);
  const all = [...innocents, ...culprits.map(([, fence]) => fence)];
  await Promise.all(all.map((fence) => peer.line(`run_${fence}`, 'began')));
  for (const [name, fence] of culprits)
    expect([name, await peer.outcome(fence)]).toMatchObject([
      name,
      { kind: 'failed', status: 'CRASHED', error: { name: 'ProcessKilled', message: cases[name]?.[1] } },
    ]);
  for (const fence of innocents)
    expect(await peer.outcome(fence)).toMatchObject({ kind: 'completed', output: 'done' });
  // Nor is an attempt blamed that is alone in the process when code of an ended run breaks the pipe.
  await peer.outcome(peer.assign('later'));
  const bystander = peer.assign('innocent', 1_000);
  expect(await peer.outcome(bystander)).toMatchObject({ kind: 'completed' });
  expect(runner.pids().length).toBeGreaterThan(0);
});

test('a task file that breaks the pipe at its import does not end the runs of other files', async () => {
  const breaks =
    "import { writeSync } from 'node:fs';\nif (process.env.BROKEN) { writeSync(3, 'x\\n'); await new Promise(() => {}); }\n";
  const { peer } = await startTestRunner({
    'tasks/a.ts': `${breaks}${tasksFile({ poisoned: '' })}`,
    'tasks/b.ts': tasksFile({ innocent: "return 'done';" }),
  });
  peer.send({ type: 'variables', variables: { BROKEN: 'yes' } });
  const [innocent, poisoned] = [peer.assign('innocent'), peer.assign('poisoned')];
  expect(await peer.outcome(innocent)).toMatchObject({ kind: 'completed', output: 'done' });
  expect(await peer.outcome(poisoned)).toMatchObject({
    kind: 'failed',
    status: 'CRASHED',
    error: { message: `${pipeFaults.foreign} before it could start the run` },
  });
});

test('a task file that breaks the pipe during indexing is a problem of that file', async () => {
  const { problems, versions } = await startTestRunner({
    'tasks/a.ts': `import { writeSync } from 'node:fs';\nwriteSync(3, 'x\\n');\n${tasksFile({ poisoned: '' })}`,
    'tasks/b.ts': tasksFile({ innocent: '' }),
  });
  expect(problems).toMatchObject([{ file: 'tasks/a.ts', message: pipeFaults.foreign }]);
  expect(versions[0]?.tasks.map(({ id }) => id)).toEqual(['innocent']);
});
