import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isAlive } from './testing/alive.ts';
import { Peer } from './testing/peer.ts';
import { createProject } from './testing/project.ts';
import { tasksFile } from './testing/runner.ts';

const pathOf = (url: URL): string => JSON.stringify(fileURLToPath(url));
const folderFile = pathOf(new URL('../../../millrace/src/serve-folder/open.ts', import.meta.url));
const runnerFile = pathOf(new URL('start.ts', import.meta.url));
const guardFile = pathOf(new URL('guard.ts', import.meta.url));
const slotsFile = pathOf(new URL('slots.ts', import.meta.url));

test.each(['unix', 'windows'])(
  'executor processes die with a killed runner, including blocked ones (%s)',
  async (ways) => {
    const peer = await new Peer().listen();
    const project = await createProject({
      'tasks/all.ts': tasksFile(
        {
          waits: 'console.log(`pid ${process.pid}`); await sleep(60_000);',
          blocks: 'console.log(`pid ${process.pid}`); await sleep(100); for (;;) {}',
        },
        { blocks: 'isolated: true,' },
      ),
    });
    const options = { url: peer.url, secretKey: peer.secretKey };
    const program = `
    import { openFolder } from ${folderFile};
    import { startRunner } from ${runnerFile};
    import { startGuard } from ${guardFile};
    import { Slots } from ${slotsFile};
    const folder = await openFolder({ projectDir: ${JSON.stringify(project.dir)}, watch: false });
    await startRunner({ ...${JSON.stringify(options)}, folder }, { slots: new Slots(10), guard: startGuard('${ways}') });`;
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await peer.until(() => peer.received.some(({ type }) => type === 'serve'));
    const fences = [peer.assign('waits'), peer.assign('blocks')];
    const lines = await Promise.all(fences.map((fence) => peer.line(`run_${fence}`, 'pid')));
    const pids = lines.map(({ message }) => Number(message.slice(4)));
    await sleep(200);
    expect(pids.map(isAlive)).toEqual([true, true]);
    runner.kill('SIGKILL');
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
    await peer.close();
    await project.remove();
  },
);
