import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createProject, type TestProject } from '../../../runner/src/runner/testing/project.ts';
import { imported, packageJson, prepared } from './testing/bundle.ts';

/** Files of packages that are installed in a folder, each given by its code and its package.json. */
const installed = (
  packages: Readonly<Record<string, readonly [code: string, manifest?: object]>>,
  below = 'node_modules',
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(packages).flatMap(([name, [code, manifest]]) => [
      [`${below}/${name}/package.json`, packageJson(name.split('/node_modules/').at(-1) ?? '', manifest)],
      [`${below}/${name}/index.js`, code],
    ]),
  );

async function project(
  imports: string,
  value: string,
  files: Readonly<Record<string, string>>,
  dependencies: object = {},
): Promise<TestProject> {
  const testProject = await createProject({
    'package.json': packageJson('app', { type: 'module', dependencies }),
    'tasks/a.mjs': `import { task } from '@millrace/sdk';\n${imports}\nexport const a = task({ id: 'a-' + ${value}, run: async () => 1 });`,
    ...files,
  });
  onTestFinished(testProject.remove);
  return testProject;
}

const module_ = { type: 'module' };
const readsFile = "module.exports = require('fs').readFileSync(__dirname + '/own.txt', 'utf8');";

test.each<[string, Record<string, string>]>([
  ['a file by __dirname', { ...installed({ p: [readsFile] }), 'node_modules/p/own.txt': 'here' }],
  [
    'a file by import.meta.url',
    {
      ...installed({
        p: [
          "import { readFileSync } from 'fs'; export default readFileSync(new URL('own.txt', import.meta.url), 'utf8');",
          module_,
        ],
      }),
      'node_modules/p/own.txt': 'here',
    },
  ],
  [
    'a subpath import by a computed name',
    {
      ...installed({
        p: [
          "import { createRequire } from 'module'; export default createRequire(import.meta.url)('#data').text;",
          { ...module_, imports: { '#data': './data.json' } },
        ],
      }),
      'node_modules/p/data.json': '{"text":"here"}',
    },
  ],
  [
    'a worker',
    {
      ...installed({
        p: [
          "import { Worker } from 'worker_threads'; export default await new Promise((done) => new Worker(new URL('worker.mjs', import.meta.url)).on('message', done));",
          module_,
        ],
      }),
      'node_modules/p/worker.mjs':
        "import { parentPort } from 'worker_threads'; parentPort.postMessage('here');",
    },
  ],
  [
    'a module by a computed name',
    {
      ...installed({ p: ["const name = 'de'; module.exports = require('./locale/' + name);"] }),
      'node_modules/p/locale/de.js': "module.exports = 'here';",
    },
  ],
  [
    'a module that is not installed, when it is called',
    installed({
      p: ["module.exports = 'here'; exports.other = () => require('not-installed');"],
    }),
  ],
  [
    'a file, in a dependency of a bundled package',
    {
      ...installed({ p: ["module.exports = require('q');", { dependencies: { q: '1' } }], q: [readsFile] }),
      'node_modules/q/own.txt': 'here',
    },
  ],
  [
    'a file, in another version than the project has',
    {
      ...installed({
        p: ["module.exports = require('q');", { dependencies: { q: '1' } }],
        q: ["module.exports = 'other';"],
        'p/node_modules/q': [readsFile],
      }),
      'node_modules/p/node_modules/q/own.txt': 'here',
    },
  ],
])('a package that loads %s is kept whole', async (_, files) => {
  const ready = await prepared(await project("import p from 'p';", 'p', files));
  const { ids, problems } = await imported(ready);
  expect(problems).toEqual([]);
  expect(ids).toEqual(['a-here']);
  expect(ready.externals).toHaveLength(1);
  expect(ready.layers).toHaveLength(1);
});

test('the reason contains file and line, and each dependency is included once', async () => {
  const files = {
    ...installed({
      p: [
        `const shared = require('shared');\nshared.count += 1;\nmodule.exports = ${readsFile.slice(17, -1)} + shared.count;`,
        { peerDependencies: { shared: '1' } },
      ],
      shared: ['exports.count = 0;'],
    }),
    'node_modules/p/own.txt': 'here',
  };
  const ready = await prepared(
    await project("import p from 'p'; import shared from 'shared';", 'p + shared.count', files),
  );
  expect((await imported(ready)).ids).toEqual(['a-here11']);
  expect(ready.externals.map(({ name, why }) => [name, why])).toEqual([
    ['p', 'it reads its own files (index.js:3)'],
    ['shared', 'p uses it'],
  ]);
});

test('a dependency loaded by name, or an optional peer, is included with its package', async () => {
  const files = installed({
    p: [
      "exports.load = (name) => require(name); exports.driver = () => require('dri' + 'ver');",
      {
        peerDependencies: { driver: '1', unused: '1' },
        peerDependenciesMeta: { driver: { optional: true }, unused: { optional: true } },
      },
    ],
    transport: ["module.exports = 'named';"],
    driver: ["module.exports = '-driven';"],
    unused: ["module.exports = 'not chosen';"],
  });
  const testProject = await project("import p from 'p';", "p.load('transport') + p.driver()", files, {
    p: '1',
    transport: '1',
    driver: '1',
  });
  const ready = await prepared(testProject);
  expect((await imported(ready)).ids).toEqual(['a-named-driven']);
  expect(ready.layers[0]?.packages).toEqual(['driver@1.0.0', 'p@1.0.0', 'transport@1.0.0']);
});

test('packages linked by pnpm are copied with their own dependencies', async () => {
  const testProject = await project("import p from 'p'; import q from 'q';", 'p + q', {
    'pnpm-lock.yaml': `lockfileVersion: '9.0'\npackages:\n  p@1.0.0: {}\n  q@1.0.0: {}\n  dep@1.0.0: {}\n  dep@2.0.0: {}`,
    ...installed(
      {
        p: [`module.exports = require('dep') + ${readsFile.slice(17, -1)};`, { dependencies: { dep: '2' } }],
      },
      'store/p/node_modules',
    ),
    ...installed({ dep: ["module.exports = 'two';", { version: '2.0.0' }] }, 'store/dep2/node_modules'),
    ...installed(
      {
        q: [
          "module.exports = require('dep') + require('fs').readFileSync(__dirname + '/own.txt');",
          { dependencies: { dep: '1' } },
        ],
      },
      'store/q/node_modules',
    ),
    ...installed({ dep: ["module.exports = '-one';"] }, 'store/dep1/node_modules'),
    'store/p/node_modules/p/own.txt': 'P',
    'store/q/node_modules/q/own.txt': 'Q',
  });
  const pnpm = join(testProject.dir, 'node_modules/.pnpm');
  await rename(join(testProject.dir, 'store'), pnpm);
  const link = async (from: string, to: string): Promise<void> =>
    symlink(join(pnpm, to), join(testProject.dir, from));
  await mkdir(join(testProject.dir, 'node_modules'), { recursive: true });
  await link('node_modules/p', 'p/node_modules/p');
  await link('node_modules/q', 'q/node_modules/q');
  await link('node_modules/.pnpm/p/node_modules/dep', 'dep2/node_modules/dep');
  await link('node_modules/.pnpm/q/node_modules/dep', 'dep1/node_modules/dep');
  const ready = await prepared(testProject);
  expect((await imported(ready)).ids).toEqual(['a-twoP-oneQ']);
  const again = await prepared(testProject);
  expect(again.layers).toMatchObject([{ isNew: false, digest: ready.layers[0]?.digest }]);
});

test('rejects a layer for another platform with a package that was compiled here', async () => {
  const files = (manifest: object) => ({
    'millrace.config.ts': "export default { build: { platforms: ['win32-arm64'] } };",
    'yarn.lock': '# yarn lockfile v1\n\np@1:\n  version "1.0.0"\n',
    ...installed({ p: [readsFile, manifest] }),
    'node_modules/p/own.txt': 'here',
  });
  const deployedWith = async (manifest: object, more: Record<string, string> = {}) =>
    prepared(await project("import p from 'p';", 'p', { ...files(manifest), ...more }));
  await expect(deployedWith({ gypfile: true })).rejects.toThrow(
    /p is installed for this machine, not for win32-arm64 \(it has native code.*\): deploy from win32-arm64\.$/,
  );
  await expect(deployedWith({ scripts: { postinstall: 'node x' } })).rejects.toThrow(
    /or set "p": false in allowScripts of package\.json/,
  );
  const prebuilt = { 'node_modules/p/prebuilds/win32-arm64/p.txt': '' };
  expect((await deployedWith({ gypfile: true }, prebuilt)).layers).toMatchObject([
    { platform: 'win32-arm64', packages: ['p@1.0.0'] },
  ]);
});

test('rejects packages that need each other in two versions', async () => {
  const needs = (name: string, version: string) => ({ version, dependencies: { [name]: '*' } });
  const inner = 'node_modules/q/node_modules/p/node_modules';
  const testProject = await project("import p from 'p';", 'p', {
    ...installed({ p: [`require('q'); ${readsFile}`, needs('q', '1.0.0')], q: ['', needs('p', '1.0.0')] }),
    ...installed({ p: ['', needs('q', '2.0.0')] }, 'node_modules/q/node_modules'),
    ...installed({ q: ['', needs('p', '2.0.0')] }, inner),
    'node_modules/p/own.txt': '',
  });
  await mkdir(join(testProject.dir, inner, 'q/node_modules'));
  await symlink(join(testProject.dir, 'node_modules/p'), join(testProject.dir, inner, 'q/node_modules/p'));
  await expect(prepared(testProject)).rejects.toThrow(
    /q 1\.0\.0 needs itself through another version of it \(node_modules\/.*\): use one version/,
  );
});

test('warns about a workspace file that reads files next to itself', async () => {
  const testProject = await project("import shared from 'shared';", 'shared', {
    'package.json': packageJson('app', { type: 'module' }),
  });
  const outside = await createProject({
    'package.json': packageJson('shared', { type: 'module', exports: './index.ts' }),
    'index.ts':
      "import { existsSync } from 'node:fs';\nexport default String(existsSync(new URL('text.txt', import.meta.url)));",
  });
  onTestFinished(outside.remove);
  await symlink(outside.dir, join(testProject.dir, 'node_modules/shared'));
  const { warnings } = await prepared(testProject);
  expect(warnings).toEqual([
    expect.stringMatching(/index\.ts is a file of a workspace package and is bundled: .*copyFiles/),
  ]);
});
