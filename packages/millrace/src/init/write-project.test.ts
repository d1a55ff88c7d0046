import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packageName } from './first-project.ts';
import { writeProject } from './write-project.ts';

describe('init', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-init-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('writes a project into a folder that does not exist yet', async () => {
    const project = await writeProject(join(folder, 'My Tasks'), '1.2.3');
    expect(project.kept).toEqual([]);
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

  test('brings the compiler that its types are checked with here', async () => {
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

  test('leaves every file that exists as it is', async () => {
    await mkdir(join(folder, 'tasks'));
    await writeFile(join(folder, 'package.json'), '{"name":"mine"}');
    await writeFile(join(folder, 'tasks/hello.ts'), '// mine');
    const project = await writeProject(folder, '1.2.3');
    expect(project.kept.toSorted()).toEqual(['package.json', 'tasks/hello.ts']);
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe('{"name":"mine"}');
    expect(await readFile(join(folder, 'tasks/hello.ts'), 'utf8')).toBe('// mine');
  });

  test('a second time writes nothing', async () => {
    const first = await writeProject(folder, '1.2.3');
    const second = await writeProject(folder, '1.2.3');
    expect(second.written).toEqual([]);
    expect(second.kept).toEqual(first.written);
  });

  test.each([
    ['Über Tasks!', 'ber-tasks'],
    ['.hidden', 'hidden'],
    ['...', 'tasks'],
    ['audit_2', 'audit_2'],
  ])('names the package of folder %j %j', (folderName, name) => {
    expect(packageName(folderName)).toBe(name);
  });
});
