import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
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

/** A key with the preset, created as in docs/deployments.md. */
async function deployOnlyKey(env: string): Promise<string> {
  const { url, folder, projectRef, personalAccessToken } = installation;
  const created = await finished(
    ['keys', 'create', 'ci', '--env', env, '--preset', 'deploy-only', '--project', projectRef, '--json'],
    { cwd: folder, env: { MILLRACE_API_URL: url, MILLRACE_ACCESS_TOKEN: personalAccessToken } },
  );
  expect(created.stderr).toBe('');
  return (JSON.parse(created.stdout) as { key: string }).key;
}

const branches = async (): Promise<string[]> => {
  const { url, projectRef, personalAccessToken } = installation;
  const response = await fetch(`${url}/api/v1/projects/${projectRef}/branches`, {
    headers: { authorization: `Bearer ${personalAccessToken}` },
  });
  return ((await response.json()) as { branches: { name: string }[] }).branches.map(({ name }) => name);
};

test('CI deploys repeatedly with a deploy-only key alone, and can do nothing else', async () => {
  const { keys } = installation;
  await startFetchingRunner(installation, keys.prod);
  const ci = await deployedProject(installation, await deployOnlyKey('prod'), {
    // Imported with the variables of the environment.
    'tasks/a.ts': `if (!process.env.REGION) throw new Error('no region');\n${taskFile('a', "'one'")}`.replace(
      /^(.*\n)(import .*\n)/,
      '$2$1',
    ),
  });
  const operator = await deployedProject(installation, keys.prod, {});
  expect((await operator.run('env', 'set', 'REGION=eu-west')).exitCode).toBe(0);
  expect((await operator.run('env', 'set', 'LOGIN=hunter2-hunter2', '--secret')).exitCode).toBe(0);
  const first = await ci.run('deploy', '--env', 'prod');
  // On a busy machine it reports its wait.
  expect(first.stderr.replaceAll(/^Waiting for .*$/gm, '').trim()).toBe('');
  expect(first).toMatchObject({ exitCode: 0, json: { isNew: true, isCurrent: true } });
  // A secret value of the environment is also found with this key.
  await ci.write('tasks/b.ts', taskFile('b', "'hunter2-hunter2'"));
  expect(await ci.run('deploy')).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('contains the value of LOGIN') as string,
  });
  await ci.write('tasks/b.ts', taskFile('b', "'two'"));
  const second = await ci.run('deploy', '--message', 'the second');
  expect(second).toMatchObject({ exitCode: 0, json: { isCurrent: true, replaced: first.json.version } });
  expect((await ci.run('deploy')).json).toMatchObject({ isNew: false, isCurrent: true });
  // Uploaded first, and promoted later.
  await ci.write('tasks/b.ts', taskFile('b', "'three'"));
  const third = await ci.run('deploy', '--no-promote');
  expect((await ci.run('deploy')).json).toMatchObject({
    version: third.json.version,
    isNew: false,
    isCurrent: true,
  });
  // A commit was reverted: the content is that of an older version.
  await ci.write('tasks/b.ts', taskFile('b', "'two'"));
  const back = await ci.run('deploy');
  expect(back).toMatchObject({
    exitCode: 1,
    json: { version: second.json.version, isNew: false, isCurrent: false },
    stderr: expect.stringContaining('A rollback requires a key with the scope write:deployments.') as string,
  });
  for (const args of [
    ['versions', 'rollback'],
    ['versions', 'promote', first.json.version, '--allow-rollback'],
    ['versions', 'archive', first.json.version, '--yes'],
    ['versions', 'move', first.json.version, second.json.version, '--yes'],
    ['trigger', 'a'],
    ['env', 'set', 'REGION=us'],
  ]) {
    const refused = await ci.run(...args);
    expect([args, refused.exitCode]).toEqual([args, 4]);
    expect(refused.stderr).toMatch(/403 Unauthorized/);
  }
  const [runner] = (await operator.run('runners', 'list')).json.id ? ['listed'] : [];
  expect(runner).toBe('listed');
  expect((await operator.run('versions', 'rollback')).json).toMatchObject({ version: second.json.version });
}, 180_000);

test('a preview branch is created by a deploy-only key, once its project can be built', async () => {
  const key = await deployOnlyKey('preview');
  const project = await deployedProject(installation, key, {
    'tasks/a.ts': 'export const = 1;',
    'millrace.config.ts': `export default { project: ${JSON.stringify(installation.projectRef)} };`,
  });
  const broken = await project.run('deploy', '--branch', 'feat/broken', '--force');
  expect(broken).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('tasks/a.ts:1:14') as string });
  expect(await branches()).toEqual([]);
  await project.write('tasks/a.ts', "import 'not-there';");
  expect((await project.run('deploy', '--branch', 'feat/broken', '--force')).exitCode).toBe(3);
  expect(await branches()).toEqual([]);
  await project.write('tasks/a.ts', taskFile('a', '1'));
  const deployed = await project.run('deploy', '--branch', 'feat/works', '--force');
  expect(deployed, deployed.stderr).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
  expect(await branches()).toEqual(['feat/works']);
  const { url, projectRef } = installation;
  const archived = await fetch(`${url}/api/v1/projects/${projectRef}/branches/archive`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ branch: 'feat/works' }),
  });
  // CI archives a preview branch when it is merged.
  expect(archived.status).toBe(200);
}, 120_000);

test('a deployed version shows its tasks with the JSON Schemas of their payloads', async () => {
  const { keys } = installation;
  const project = await deployedProject(installation, keys.stg, {
    'tasks/mail.ts': `import { task } from '@millrace/sdk';
      import { z } from 'zod';
      export const mail = task({
        id: 'mail', description: 'Sends a mail',
        schema: z.object({ to: z.string(), body: z.string().optional(), at: z.date() }),
        run: async () => 1,
      });
      export const large = task({
        id: 'large', schema: z.enum(Array.from({ length: 5_000 }, (_, index) => 'option ' + index)), run: async () => 1,
      });
      export const free = task({ id: 'free', run: async () => 1 });`,
  });
  await symlink(join(repository, 'node_modules/zod'), join(project.dir, 'node_modules/zod'));
  const text = project.start('deploy', '--force');
  expect(await text.exitCode).toBe(0);
  expect(text.stderr.join('\n')).toMatch(
    /Tasks without a JSON Schema of the payload: large\. For large: its JSON Schema has \d+ bytes, and at most 32768 are stored\./,
  );
  const { version } = (await project.run('deploy', '--force')).json as { version: string };
  const { declaredTasks } = (await project.run('versions', 'show', version)).json as {
    declaredTasks: Record<string, unknown>[];
  };
  expect(declaredTasks).toEqual([
    {
      id: 'free',
      filePath: 'tasks/mail.ts',
      description: null,
      payloadSchema: null,
      payloadSchemaNote: null,
    },
    {
      id: 'large',
      filePath: 'tasks/mail.ts',
      description: null,
      payloadSchema: null,
      payloadSchemaNote: expect.stringMatching(/^its JSON Schema has \d+ bytes/) as string,
    },
    {
      id: 'mail',
      filePath: 'tasks/mail.ts',
      description: 'Sends a mail',
      payloadSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { to: { type: 'string' }, body: { type: 'string' }, at: {} },
        required: ['to', 'at'],
      },
      payloadSchemaNote: null,
    },
  ]);
  const properties = (declaredTasks[2] as { payloadSchema: { properties: object } }).payloadSchema.properties;
  expect(Object.keys(properties)).toEqual(['to', 'body', 'at']);
  const process = project.start('versions', 'show', version);
  expect(await process.exitCode).toBe(0);
  expect(process.stdout.join('\n')).toMatch(/mail +tasks\/mail\.ts +JSON Schema/);
}, 120_000);
