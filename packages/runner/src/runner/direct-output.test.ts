import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startTestRunner, tasksFile } from './testing/runner.ts';

const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const head = `
import { spawnSync } from 'node:child_process';
import { existsSync, writeSync } from 'node:fs';
import pino from 'pino';
writeSync(1, 'imported\\n');
const transport = pino.transport({ target: 'pino/file', options: { destination: 1 } });
const started = new Promise((resolve) => transport.once('ready', resolve));
const log = pino(transport);
`;
const bodies = {
  direct:
    "console.log('first'); writeSync(1, 'one\\ntwo\\n'); writeSync(2, 'wrong\\n'); spawnSync(process.execPath, ['-e', 'console.log(`child`)'], { stdio: 'inherit' }); return 'done';",
  logs: "log.info('from a thread'); return 'done';",
  // An ending process has two seconds, within which a thread that has not started yet would have to start.
  alone: "await started; log.info('from a thread'); return 'done';",
  blocked:
    "console.log('began'); while (!existsSync(payload)) await sleep(20); writeSync(1, 'whose?\\n'); return 'done';",
};

test('direct output to file descriptors is in the log of the only run of a process', async () => {
  const output: string[] = [];
  const { peer, project } = await startTestRunner(
    { 'tasks/all.ts': head + tasksFile(bodies, { alone: 'isolated: true,' }) },
    { events: { onOutput: (stream, text) => output.push(`${stream} ${text}`) } },
    undefined,
    (dir) => symlink(join(modules, 'pino'), join(dir, 'node_modules/pino')),
  );
  const printed = (): string => output.join('');

  const direct = `run_${peer.assign('direct')}`;
  for (const text of ['first', 'one', 'two', 'child', 'wrong']) await peer.line(direct, text);
  const lines = peer.lines.filter(({ run }) => run === direct);
  const logged = lines.filter(({ level }) => level === 'log').map(({ message }) => message);
  expect(logged.toSorted()).toEqual(['child', 'first', 'one', 'two']);
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([{ message: 'wrong', attempt: 1 }]);
  await expect.poll(() => printed()).toBe('stdout imported\n');

  // The thread writes after the run has ended, in a process shared with other runs and in one that ends with the run.
  const alone = peer.assign('alone');
  await peer.outcome(alone);
  expect(await peer.line(`run_${alone}`, 'from a thread')).toMatchObject({ level: 'log' });

  const both = [
    peer.assign('blocked', join(project.dir, 'go')),
    peer.assign('blocked', join(project.dir, 'go')),
  ];
  await Promise.all(both.map((fence) => peer.line(`run_${fence}`, 'began')));
  await project.write('go', '');
  await Promise.all(both.map((fence) => peer.outcome(fence)));
  await expect.poll(() => printed().match(/whose\?/g)).toHaveLength(2);
  expect(printed()).toContain(
    'stderr The following output is not in the log of a run: it was written directly',
  );
  expect(peer.lines.filter(({ message }) => message.includes('whose?'))).toEqual([]);
});

test('a line of a thread that arrives shortly after the only run is in its log', async () => {
  const { peer } = await startTestRunner({ 'tasks/all.ts': head + tasksFile(bodies) }, {}, undefined, (dir) =>
    symlink(join(modules, 'pino'), join(dir, 'node_modules/pino')),
  );
  const fence = peer.assign('logs');
  await peer.outcome(fence);
  expect(await peer.line(`run_${fence}`, 'from a thread')).toMatchObject({ attempt: 1 });
});
