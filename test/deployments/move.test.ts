import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from './client.ts';
import {
  deployedProject,
  startFetchingRunner,
  startInstallation,
  taskFile,
  type Installation,
} from './installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

test('millrace versions move shows the waiting runs, confirms, and moves them to another version, where they run', async () => {
  const { keys, url } = installation;
  const to = { url, key: keys.prod };
  const project = await deployedProject(installation, keys.prod, {
    'tasks/a.ts': taskFile('a', "'one'"),
    'tasks/b.ts': taskFile('b', "'b'"),
  });
  await startFetchingRunner(installation, keys.prod);
  const version = (await project.run('deploy')).json.version as string;
  await project.write('tasks/a.ts', taskFile('a', "'two'"));
  const two = (await project.run('deploy')).json.version as string;
  await project.write('tasks/b.ts', taskFile('c', "'c'"));
  const three = (await project.run('deploy', '--no-promote')).json.version as string;

  const trigger = (task: string) =>
    call<{ id: string }>(to, `POST /api/v1/tasks/${task}/trigger`, {
      payload: {},
      options: { lockToVersion: version, delay: '1h' },
    });
  const runs = [await trigger('a'), await trigger('b')];
  const waiting = ['a', 'b'].map((task) => ({ task, status: 'DELAYED', count: 1 }));

  expect(await project.run('versions', 'move', version, two, '--dry-run')).toMatchObject({
    exitCode: 0,
    json: { from: version, to: two, waiting, missingTasks: [], staying: 0, moved: 0 },
  });
  expect(await project.run('versions', 'move', version, two)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('pass --yes'),
  });
  expect(await project.run('versions', 'move', version, three, '--yes')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`Version ${three} lacks tasks with waiting runs: "b". Nothing was moved`),
  });
  expect(await project.run('versions', 'move', version, two, '--status', 'EXECUTING')).toMatchObject({
    exitCode: 2,
  });
  expect(await project.run('versions', 'move', version, two, '--yes')).toMatchObject({
    exitCode: 0,
    json: { waiting, moved: 2, isComplete: true },
  });
  const move = `POST /api/v1/deployments/${version}/move`;
  expect(await call(to, move, { to: two })).toMatchObject({ waiting: [], moved: 0, isComplete: true });
  await expect(call(to, move, { to: two, tasks: ['a'] })).rejects.toThrow(/400 .*tasks/);
  await expect(call(to, move, { to: two, status: ['EXECUTING'] })).rejects.toThrow(/400 .*status/);
  await expect(call(to, move, {})).rejects.toThrow(/400 .*to/);

  await call(to, `POST /api/v1/runs/${runs[0]!.id}/reschedule`, { delay: '1s' });
  const runsOf = () =>
    call<{ status: string; version: string; output: unknown }>(to, `GET /api/v3/runs/${runs[0]!.id}`);
  await expect.poll(async () => (await runsOf()).status, { timeout: 20_000 }).toBe('COMPLETED');
  expect(await runsOf()).toMatchObject({ version: two, output: 'two' });
}, 180_000);
