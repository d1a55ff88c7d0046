import { createHash } from 'node:crypto';
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

/** The documented formula for a run's share. */
const shareOf = (run: string): number =>
  Number.parseInt(createHash('md5').update(run).digest('hex').slice(0, 8), 16) % 100;

test('a canary gets its share of the runs, its errors are identified by its version, and it ends when it is aborted', async () => {
  const { keys, url } = installation;
  const to = { url, key: keys.prod };
  const project = await deployedProject(installation, keys.prod, {
    'tasks/a.ts': taskFile('a', "'one'"),
  });
  await startFetchingRunner(installation, keys.prod);
  const stable = (await project.run('deploy')).json.version as string;
  await project.write('tasks/a.ts', taskFile('a', "(() => { throw new Error('broken in two'); })()"));
  const canary = (await project.run('deploy', '--no-promote')).json.version as string;

  const promote = () => project.run('versions', 'promote', canary, '--percent', '50');
  await expect.poll(async () => (await promote()).exitCode, { timeout: 30_000 }).toBe(0);
  expect((await promote()).json).toMatchObject({ version: canary, replaced: null, canaryPercent: 50 });
  expect((await project.run('versions', 'show', canary)).json).toMatchObject({
    state: 'ready',
    canaryPercent: 50,
  });
  for (const percent of ['0', '100', '1.5', 'x'])
    await expect(call(to, `POST /api/v1/deployments/${canary}/promote?percent=${percent}`)).rejects.toThrow(
      /400 .*percent/,
    );

  interface ListedVersion {
    readonly status: string;
    readonly version: string;
  }
  const options = { maxAttempts: 1 };
  const triggerAll = async (): Promise<Map<string, ListedVersion>> => {
    const runs = new Map<string, ListedVersion>();
    for (let n = 0; n < 20; n++) {
      const { id } = await call<{ id: string }>(to, 'POST /api/v1/tasks/a/trigger', { payload: {}, options });
      const read = () => call<ListedVersion>(to, `GET /api/v3/runs/${id}`);
      await expect
        .poll(async () => (await read()).status, { timeout: 20_000 })
        .toMatch(/^(COMPLETED|FAILED)$/);
      runs.set(id, await read());
    }
    return runs;
  };
  const runs = await triggerAll();
  for (const [id, { status, version }] of runs) {
    expect(version).toBe(shareOf(id) < 50 ? canary : stable);
    expect(status).toBe(version === canary ? 'FAILED' : 'COMPLETED');
  }
  const failed = [...runs.values()].filter(({ version }) => version === canary).length;
  expect(failed).toBeGreaterThan(0);
  const errorsOf = async (version: string) =>
    (await call<{ data: { count: number }[] }>(to, `GET /api/v1/errors?filter[version]=${version}`)).data;
  await expect.poll(async () => (await errorsOf(canary))[0]?.count, { timeout: 20_000 }).toBe(failed);
  expect(await errorsOf(stable)).toEqual([]);

  expect(await project.run('versions', 'abort', canary)).toMatchObject({
    exitCode: 0,
    json: { version: canary, canaryPercent: null },
  });
  expect(await project.run('versions', 'abort', canary)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is not the canary: no canary exists'),
  });
  for (const { version } of (await triggerAll()).values()) expect(version).toBe(stable);
}, 180_000);
