import { expect, onTestFinished, test } from 'vitest';
import { build } from '../bundle/build.ts';
import { indexTasks } from '../bundle/index-tasks.ts';
import { loadProject } from '../project/load.ts';
import { createProject, type TestProject } from '../../../runner/src/runner/testing/project.ts';
import { emptyEnv, imported, packageJson, prepared } from './testing/bundle.ts';

const importCreate = "import { createRequire } from 'node:module';";
const importRead = "import { readFileSync } from 'node:fs';";

/** A project with a package `p`. Its task file sets `found`. */
async function projectWith(files: Readonly<Record<string, string>>): Promise<TestProject> {
  const project = await createProject({
    'package.json': packageJson('app', { type: 'module', dependencies: { p: '1' } }),
    ...files,
    'tasks/a.ts': `import { task } from '@millrace/sdk';\n${files['tasks/a.ts']}\nexport const a = task({ id: 'a-' + found, run: async () => 1 });`,
    'node_modules/p/package.json': packageJson('p'),
    'node_modules/p/index.js': "module.exports = 'here';",
    'node_modules/p/text.txt': 'here',
  });
  onTestFinished(project.remove);
  return project;
}

test.each<[string, Record<string, string>]>([
  [
    'createRequire',
    {
      'tasks/a.ts': `${importCreate}\nconst load = createRequire(import.meta.url);\nconst found: string = load('p');`,
    },
  ],
  [
    'createRequire under the name of require',
    {
      'tasks/a.ts': `${importCreate}\nconst require = createRequire(import.meta.url);\nconst found: string = require('p');`,
    },
  ],
  [
    'createRequire at once',
    {
      'tasks/a.ts': `import * as module from 'module';\nconst found = module.createRequire(__filename)('p/index.js');`,
    },
  ],
  [
    'a name in a constant',
    { 'tasks/a.ts': "const name = 'p';\nconst found = (await import(name)).default;" },
  ],
  [
    'a name of another file',
    {
      'tasks/a.ts': "import { load } from '../load.ts';\nconst found = await load('p');",
      'load.ts': 'export const load = async (name: string) => (await import(name)).default;',
    },
  ],
  [
    'an import that is hidden from compilers',
    {
      'tasks/a.ts':
        "const hidden = new Function('name', 'return import(name)');\nconst found = (await hidden('p')).default;",
    },
  ],
  [
    'import.meta.resolve',
    {
      'tasks/a.ts': `${importRead}\nconst found = readFileSync(new URL(import.meta.resolve('p/text.txt')), 'utf8');`,
    },
  ],
  [
    'require.resolve',
    { 'tasks/a.ts': `${importRead}\nconst found = readFileSync(require.resolve('p/text.txt'), 'utf8');` },
  ],
])('a package that the code loads by %s is available in dev and deployed', async (_, files) => {
  const project = await projectWith(files);
  const loaded = await loadProject(project.dir);
  const built = await build(loaded, `${project.dir}/.millrace/build`);
  const inDev = await indexTasks(built, {
    projectDir: project.dir,
    env: emptyEnv,
    defaults: loaded.defaults,
  });
  const deployed = await imported(await prepared(project));
  expect(inDev.problems).toEqual([]);
  expect(deployed.problems).toEqual([]);
  expect(inDev.tasks.map(({ manifest: { id } }) => id)).toEqual(['a-here']);
  expect(deployed.ids).toEqual(['a-here']);
});

test.each([
  ["const where = 'node_modules/p/text.txt';"],
  ["const where = ['node_modules', 'p', 'text.txt'].join('/');"],
])('a package is in the layer if the code refers to its folder: %s', async (code) => {
  const { externals } = await prepared(await projectWith({ 'tasks/a.ts': `${code}\nconst found = where;` }));
  expect(externals.map(({ name, why }) => [name, why])).toEqual([
    ['p', 'the code refers to it (tasks/a.ts)'],
  ]);
});

test('a package that is only imported or mentioned is not in a layer', async () => {
  const { externals, warnings } = await prepared(
    await projectWith({
      'tasks/a.ts':
        "import p from 'p';\nconst kind = 'p';\nconst found = p + (await import(`../kinds/${kind}.ts`)).default;",
      'kinds/p.ts': "export default (await import('p')).default;",
    }),
  );
  expect([externals, warnings]).toEqual([[], []]);
});

test('warns about code that loads modules by computed names', async () => {
  const { warnings } = await prepared(
    await projectWith({
      'tasks/a.ts': 'const found = 1;\nexport const load = async (name: string) => import(name);',
    }),
  );
  expect(warnings).toEqual([
    'tasks/a.ts loads modules by computed names: add packages that are not imported elsewhere to build.external, and files with copyFiles.',
  ]);
});

test('warns about a template import that matches no file', async () => {
  const { warnings } = await prepared(
    await projectWith({
      'tasks/a.ts': 'const found = 1;\nexport const load = (kind: string) => import(`../kinds/${kind}.js`);',
      'kinds/p.ts': 'export default 1;',
    }),
  );
  expect(warnings).toEqual([
    'tasks/a.ts:3: no file matches `export const load = (kind: string) => import(`../kinds/${kind}.js`);`. An import() of a template must use the file names of the project, with .ts instead of .js.',
  ]);
});

test('warns about a file in the code that is not copied', async () => {
  const files = {
    'tasks/a.ts': `import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
const found = 1;
export const start = () => new Worker(new URL('../workers/w.ts', import.meta.url));
export const text = () => join(import.meta.dirname, '../data/a.txt') + new URL('../data/none.txt', import.meta.url) + new URL('../data', import.meta.url);`,
    'workers/w.ts': '',
    'data/a.txt': '',
  };
  const copied = {
    'millrace.config.ts':
      "import { copyFiles } from 'millrace';\nexport default { build: { extensions: [copyFiles('workers/*')] } };",
  };
  const worker =
    'workers/w.ts is not in the deployed version, but tasks/a.ts refers to it: add it with copyFiles if it is read.';
  const text =
    'data/a.txt is not in the deployed version, but tasks/a.ts refers to it: add it with copyFiles if it is read.';
  expect((await prepared(await projectWith(files))).warnings).toEqual([worker, text]);
  expect((await prepared(await projectWith({ ...files, ...copied }))).warnings).toEqual([text]);
});
