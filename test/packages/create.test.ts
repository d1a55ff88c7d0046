/** `npm create millrace`, from the tarball that `npm publish` uploads. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finished, inherited } from '../cli/command.ts';
import { finished as millrace } from '../cli/in-process.ts';
import { packAll, run, type Packed } from './packed.ts';

let packed: Packed;
let bin: string;
beforeAll(async () => {
  packed = await packAll();
  await run('tar', ['-xzf', packed.tarballs['create-millrace'], '-C', packed.folder]);
  bin = join(packed.folder, 'package/bin/create-millrace.js');
}, 120_000);
afterAll(() => packed?.remove());

/** Runs the program as a package manager would. */
const create = (args: readonly string[], userAgent = 'npm/11.5.1 node/v24.21.0 linux x64') =>
  finished(args, { cwd: packed.folder, bin, env: { npm_config_user_agent: userAgent } });

async function filesBelow(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(
      files.map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')] as const),
    ),
  );
}

test('npm runs it, and it writes the files of `millrace init`', async () => {
  const [cwd, other] = [join(packed.folder, 'by-npm'), join(packed.folder, 'by-init')];
  await Promise.all([mkdir(cwd), mkdir(other)]);
  const args = ['exec', '--yes', '--offline', '--package', packed.tarballs['create-millrace'], '--'];
  const { stdout } = await run('npm', [...args, 'create-millrace', 'My Tasks', '--json'], {
    cwd,
    env: inherited,
  });
  const files = await filesBelow(join(cwd, 'My Tasks'));
  expect(JSON.parse(stdout)).toEqual({
    folder: expect.stringMatching(/\/by-npm\/My Tasks$/) as string,
    written: expect.arrayContaining(Object.keys(files)) as string[],
    packageManager: 'npm',
    next: ["cd 'My Tasks'", 'npm install', 'npm run dev'],
    trigger: `npx millrace trigger hello --payload '{"name":"Ada"}' --wait`,
  });
  expect(await millrace(['init', 'My Tasks'], { cwd: other })).toMatchObject({ exitCode: 0 });
  expect(files).toEqual(await filesBelow(join(other, 'My Tasks')));
  expect(Object.keys(files)).toContain('tasks/hello.ts');
}, 60_000);

test('the next steps are those of the package manager that runs it', async () => {
  const { exitCode, stdout } = await create(['with-pnpm'], 'pnpm/11.2.0 npm/? node/v24.21.0 linux x64');
  expect(exitCode).toBe(0);
  const lines = stdout.split('\n');
  expect(lines).toContain('wrote pnpm-workspace.yaml');
  expect(lines.slice(lines.indexOf('Next:'))).toEqual([
    'Next:',
    '  cd with-pnpm',
    '  pnpm install',
    '  pnpm run dev',
    `Then, in a second terminal: pnpm exec millrace trigger hello --payload '{"name":"Ada"}' --wait`,
  ]);
});

test('a folder with only a repository counts as empty', async () => {
  await mkdir(join(packed.folder, 'cloned/.git'), { recursive: true });
  expect(await create(['cloned'])).toMatchObject({ exitCode: 0, stderr: '' });
});

describe('rejects', () => {
  test('a folder with files, and leaves it unchanged', async () => {
    const folder = join(packed.folder, 'full');
    await mkdir(folder);
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const { exitCode, stderr } = await create(['full', '--json']);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^create-millrace: The folder \S+\/full is not empty\. .*npx millrace init$/,
      ) as string,
    });
    expect(await filesBelow(folder)).toEqual({ 'notes.txt': 'mine' });
  });

  test('a file in place of the folder', async () => {
    await writeFile(join(packed.folder, 'file'), '');
    const { exitCode, stderr } = await create(['file']);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/\/file is a file, not a folder\. Choose another folder\.$/) as string,
    });
  });

  test.each([
    [['a', 'b'], 'Too many arguments: pass one folder, not 2.'],
    [[''], 'The name of the folder is empty'],
    [['--template', 'x'], "Unknown option '--template'"],
  ])('the command line %j', async (args, message) => {
    const { exitCode, stderr } = await create(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) as string });
  });
});
