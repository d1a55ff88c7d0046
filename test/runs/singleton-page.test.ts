/** docs/singleton.md in the hands of a newcomer: its task, its commands and its code, beside `millrace dev`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configure, runs, tasks } from '@millrace/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  finished,
  repository,
  startDev,
  temporaryProject,
  type Folder,
  type Ready,
  type Running,
} from '../cli/command.ts';

const page = await readFile(join(repository, 'docs/singleton.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code);
const [task = ''] = blocks('ts');
const [commands = ''] = blocks('sh');

let project: Folder;
let dev: Running & { ready: Ready };

beforeAll(async () => {
  project = await temporaryProject({ 'tasks/sync.ts': task });
  dev = await startDev(project.path);
  configure({ baseURL: dev.ready.url, accessToken: dev.ready.environments.dev.secretKey });
}, 60_000);
afterAll(async () => {
  dev?.kill('SIGTERM');
  await dev?.exitCode;
  await project?.remove();
});

const said = (...args: string[]) => finished(args, { cwd: project.path });

test('its commands trigger, and tell where a trigger led to a run that was there', async () => {
  const lines = commands.trim().split('\n').slice(1);
  for (const line of lines) {
    const [, payload = '', key = ''] = /--payload '(.*)' --singleton (\S+)/.exec(line) ?? [];
    const { exitCode, stdout } = await said(
      'trigger',
      'sync-customer',
      '--payload',
      payload,
      '--singleton',
      key,
    );
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^run_/)]);
  }
  const skipped = await said('trigger', 'sync-customer', '--singleton', 'late', '--delay', '1h');
  const again = await said('trigger', 'sync-customer', '--singleton', 'late');
  expect(again).toMatchObject({ exitCode: 0, stdout: skipped.stdout });
  expect(again.stderr).toMatch(/It was there already/);
  expect((await said('trigger', 'sync-customer', '--on-conflict', 'drop')).exitCode).not.toBe(0);
});

test('runs of one key follow each other, and as many triggers as there are lead to one that waits', async () => {
  const trigger = (customer: string) =>
    tasks.trigger('sync-customer', { customer }, { singleton: { key: 'busy' } });
  const first = await trigger('first');
  await expect
    .poll(async () => (await runs.retrieve(first.id)).status, { timeout: 10_000 })
    .toBe('EXECUTING');
  const later = await Promise.all([1, 2, 3, 4].map((n) => trigger(`later ${n}`)));
  const [second] = later;
  expect(new Set(later.map(({ id }) => id))).toEqual(new Set([second!.id]));
  expect((await said('why', second!.id)).stdout).toContain(`It waits for the end of the run ${first.id}`);
  const [one, two] = await Promise.all([runs.poll(first.id), runs.poll(second!.id)]);
  expect([one.status, two.status]).toEqual(['COMPLETED', 'COMPLETED']);
  expect(two.startedAt!.getTime()).toBeGreaterThanOrEqual(one.finishedAt!.getTime());
});
