import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeProject } from './write-project.ts';

describe('init', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-init-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('writes a project into a folder that does not exist yet', async () => {
    const project = await writeProject(join(folder, 'My Tasks'), '1.2.3');
    expect(project.unchanged).toEqual([]);
    const manifest = JSON.parse(await readFile(join(folder, 'My Tasks/package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'my-tasks',
      type: 'module',
      dependencies: { millrace: '^1.2.3' },
    });
    expect(await readFile(join(folder, 'My Tasks/tasks/hello.ts'), 'utf8')).toContain("id: 'hello'");
    const ignored = (await readFile(join(folder, 'My Tasks/.gitignore'), 'utf8')).split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.millrace/', 'node_modules/', '.env*']));
    expect((await readFile(join(folder, 'My Tasks/README.md'), 'utf8')).trim().split('\n')).toHaveLength(10);
  });

  test('adds the command to a project of the published SDK, and nothing else', async () => {
    const manifest = '{\n  "name": "moved",\n  "dependencies": {\n    "@trigger.dev/sdk": "4.8.3"\n  }\n}\n';
    await writeFile(join(folder, 'package.json'), manifest);
    await writeFile(join(folder, 'trigger.config.ts'), '// mine');
    const project = await writeProject(folder, '1.2.3');
    expect(project).toMatchObject({ written: [], unchanged: [], added: { devDependencies: ['millrace'] } });
    expect((await readdir(folder)).toSorted()).toEqual(['package.json', 'trigger.config.ts']);
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      dependencies: { '@trigger.dev/sdk': '4.8.3' },
      devDependencies: { millrace: '^1.2.3' },
    });
    expect((await writeProject(folder, '1.2.3')).added).toEqual({});
  });

  test('installs the same compiler version that this repository uses', async () => {
    await writeProject(folder, '1.2.3');
    const own = JSON.parse(
      await readFile(new URL('../../../../package.json', import.meta.url), 'utf8'),
    ) as Record<'devDependencies', Record<string, string>>;
    const { scripts, devDependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    expect(scripts).toMatchObject({ types: 'tsc' });
    expect(devDependencies).toEqual({
      '@types/node': own.devDependencies['@types/node'],
      typescript: own.devDependencies['typescript'],
    });
  });

  test('does not change other existing files', async () => {
    await mkdir(join(folder, 'tasks'));
    await writeFile(join(folder, 'tsconfig.json'), '{}');
    await writeFile(join(folder, 'tasks/hello.ts'), '// mine');
    const project = await writeProject(folder, '1.2.3');
    expect(project.unchanged.toSorted()).toEqual(['tasks/hello.ts', 'tsconfig.json']);
    expect(await readFile(join(folder, 'tsconfig.json'), 'utf8')).toBe('{}');
    expect(await readFile(join(folder, 'tasks/hello.ts'), 'utf8')).toBe('// mine');
  });

  /** The result of `npm init -y && npm install millrace @millrace/sdk`, except for its indentation. */
  const initialised = `{
\t"name": "mine",
\t"version": "1.0.0",
\t"scripts": {
\t\t"test": "echo 'Error: no test specified' && exit 1"
\t},
\t"type": "commonjs",
\t"dependencies": {
\t\t"@millrace/sdk": "file:../sdk.tgz",
\t\t"millrace": "^1.2.2"
\t}
}
`;

  test('adds only the missing parts to a package.json', async () => {
    await writeFile(join(folder, 'package.json'), initialised, { mode: 0o640 });
    const project = await writeProject(folder, '1.2.3');
    expect(project.added).toEqual({
      scripts: ['dev', 'deploy', 'types'],
      devDependencies: ['@types/node', 'typescript'],
      allowScripts: expect.arrayContaining(['esbuild']),
    });
    expect([...project.written, ...project.unchanged]).not.toContain('package.json');
    const text = await readFile(join(folder, 'package.json'), 'utf8');
    const { scripts, devDependencies, allowScripts, ...others } = JSON.parse(text);
    const { scripts: ownScripts, ...own } = JSON.parse(initialised);
    expect(others).toEqual(own);
    expect(scripts).toMatchObject({ ...ownScripts, dev: 'millrace dev', types: 'tsc' });
    expect(Object.keys(devDependencies)).toEqual(['@types/node', 'typescript']);
    expect(allowScripts).toMatchObject({ esbuild: false });
    // All earlier lines are still present, in order.
    const lines = text.split('\n').map((line) => line.replace(/,$/, ''));
    const before = initialised.split('\n').map((line) => line.replace(/,$/, ''));
    expect(lines.filter((line) => before.includes(line) && !/^\t?[}]?$/.test(line))).toEqual(
      before.filter((line) => !/^\t?[}]?$/.test(line)),
    );
    expect((await stat(join(folder, 'package.json'))).mode & 0o777).toBe(0o640);
    const readMe = await readFile(join(folder, 'README.md'), 'utf8');
    for (const [, script = ''] of readMe.matchAll(/npm run (\w+)/g)) expect(scripts).toHaveProperty(script);
    expect(readMe).toContain('`npm run types` checks');
    expect((await writeProject(folder, '1.2.3')).added).toEqual({});
  });

  test('keeps scripts and packages of the same name, and the README lists the alternatives', async () => {
    const own = {
      scripts: { dev: 'vite', types: 'tsc' },
      dependencies: { typescript: '5' },
      devDependencies: { '@types/node': '22', millrace: '1', '@millrace/sdk': '1' },
      allowScripts: { 'esbuild@0.25.0': true },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(own));
    await writeFile(join(folder, 'tsconfig.json'), '{}');
    await writeFile(join(folder, '.gitignore'), 'dist\n');
    const { added } = await writeProject(folder, '1.2.3');
    expect(added).toEqual({ scripts: ['deploy'], allowScripts: expect.not.arrayContaining(['esbuild']) });
    const now = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    expect(now).toMatchObject(own);
    const readMe = await readFile(join(folder, 'README.md'), 'utf8');
    expect(readMe).toContain('`npx millrace dev` serves');
    expect(readMe).toContain('`npx tsc --noEmit` checks');
    expect(readMe).toContain('`npm run deploy` deploys');
    expect(readMe).toContain('keep it and `.millrace/` out of git');
  });

  test('keeps line ends and invalid members', async () => {
    const text = '{\r\n    "scripts": "none",\r\n    "private": true\r\n}\r\n';
    await writeFile(join(folder, 'package.json'), text);
    const { added } = await writeProject(folder, '1.2.3');
    expect(Object.keys(added)).toEqual(['dependencies', 'devDependencies', 'allowScripts']);
    const now = await readFile(join(folder, 'package.json'), 'utf8');
    expect(now.startsWith(text.slice(0, -5))).toBe(true);
    expect(now.replaceAll('\r\n', '')).not.toContain('\n');
  });

  test.each(['{"name":', '[]', 'null'])('writes nothing next to the package.json %j', async (text) => {
    await writeFile(join(folder, 'package.json'), text);
    await expect(writeProject(folder, '1.2.3')).rejects.toThrow(/package\.json: is not valid/);
    expect(await readdir(folder)).toEqual(['package.json']);
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe(text);
  });

  test('writes nothing the second time', async () => {
    const first = await writeProject(folder, '1.2.3');
    const second = await writeProject(folder, '1.2.3');
    expect(second.written).toEqual([]);
    expect(second.unchanged).toEqual(first.written);
  });
});
