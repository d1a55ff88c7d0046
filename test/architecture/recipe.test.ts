/** The recipe "Add an HTTP operation" of CONTRIBUTING.md, followed in a copy of the packages that it changes. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { repository } from '../cli/command.ts';

const copied = ['contract', 'fingerprint', 'server', 'sdk'];

/** A copy of the sources of these packages, with the dependencies of the repository. */
async function copyOfTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'millrace-recipe-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  const modules = join(repository, 'node_modules');
  await mkdir(join(copy, 'node_modules/@millrace'), { recursive: true });
  for (const name of await readdir(modules))
    if (name !== '@millrace' && name !== '.bin' && !name.startsWith('.'))
      await symlink(join(modules, name), join(copy, 'node_modules', name));
  for (const name of copied) {
    const [from, to] = [join(repository, 'packages', name), join(copy, 'packages', name)];
    await cp(join(from, 'src'), join(to, 'src'), { recursive: true });
    await cp(join(from, 'package.json'), join(to, 'package.json'));
    await symlink(to, join(copy, 'node_modules/@millrace', name));
  }
  await symlink(join(repository, 'packages/server/node_modules'), join(copy, 'packages/server/node_modules'));
  for (const file of ['tsconfig.base.json', 'tsconfig.source.json', 'build/source-aliases.ts'])
    await cp(join(repository, file), join(copy, file));
  const compilerOptions = { noEmit: true, allowImportingTsExtensions: true };
  // The changed files with their imports. Compiling all packages would take twice as long.
  const files = ['contract/src/routes.ts', 'server/src/queues/handlers.ts', 'sdk/src/queues/ping.ts'].map(
    (file) => `packages/${file}`,
  );
  await writeFile(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ extends: './tsconfig.source.json', compilerOptions, files }),
  );
  await writeFile(
    join(copy, 'vitest.config.ts'),
    "import { sourceAliases } from './build/source-aliases.ts';\nexport default { resolve: { alias: sourceAliases() } };",
  );
  return copy;
}

test('the recipe for an HTTP operation leads to code that compiles', { timeout: 300_000 }, async () => {
  const guide = await readFile(join(repository, 'CONTRIBUTING.md'), 'utf8');
  const recipe = guide.split('### Add an HTTP operation')[1]?.split('\n### ')[0] ?? '';
  const [, check = ''] = /Check:\s+`([^`]+)`/.exec(recipe) ?? [];
  const [update = '', types] = check.split(' && ');
  expect(types).toBe('npm run types');
  // Each step is one file.
  expect(recipe.match(/^\d+\. /gm)).toHaveLength(5);
  const routes = 'packages/contract/src/routes.test.ts';
  expect(update).toContain(`npx vitest run ${routes} `);

  const copy = await copyOfTree();
  const edit = async (file: string, change: (text: string) => string): Promise<void> => {
    expect(recipe).toContain(file.replace(/^packages\/server\/src\//, '').replace('queues', '<concept>'));
    const before = await readFile(join(copy, file), 'utf8');
    const after = change(before);
    expect([file, after === before]).toEqual([file, false]);
    await writeFile(join(copy, file), after);
  };
  const tool = (name: string, ...args: readonly string[]) =>
    promisify(execFile)(join(repository, 'node_modules/.bin', name), args, { cwd: copy }).catch(
      ({ stdout, stderr }: { stdout: string; stderr: string }) => {
        throw new Error(`${name} failed:\n${stdout}\n${stderr}`);
      },
    );
  await edit(
    'packages/contract/src/operations/queues.ts',
    (text) => `${text}
export const pingQueues = operation({
  id: 'pingQueues',
  method: 'GET',
  path: '/api/v1/queues-ping',
  tag: 'queues',
  summary: 'Answer',
  access: read,
  reply: z.object({ ok: z.boolean() }),
});
`,
  );
  await tool('vitest', 'run', routes, '-u');
  await edit('packages/server/src/queues/handlers.ts', (text) =>
    text.replace(
      '  return {\n    async listQueues',
      '  return {\n    pingQueues: async () => ({ ok: true }),\n    async listQueues',
    ),
  );
  await mkdir(join(copy, 'packages/sdk/src/queues'), { recursive: true });
  await writeFile(
    join(copy, 'packages/sdk/src/queues/ping.ts'),
    "import { currentClient } from '../client/current-client.ts';\n\nexport const ping = () => currentClient().call('pingQueues', {});\n",
  );
  await tool('tsc', '-p', 'tsconfig.json', '--checkers', '1');
});
