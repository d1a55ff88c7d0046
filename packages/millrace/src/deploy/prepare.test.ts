import { execFile } from 'node:child_process';
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle as bundleSchema } from '@millrace/contract/runner';
import { unpackTar } from 'modern-tar';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../../runner/src/runner/testing/project.ts';
import type { TestProject } from '../../../runner/src/runner/testing/project.ts';
import { contentOf, imported, packageJson, prepared } from './testing/bundle.ts';

const run = promisify(execFile);

async function project(files: Readonly<Record<string, string>>): Promise<TestProject> {
  const testProject = await createProject(files);
  onTestFinished(testProject.remove);
  return testProject;
}

const taskNamed = (
  id: string,
  expression: string,
  imports = '',
): string => `import { task } from '@millrace/sdk';
${imports}
export const one = task({ id: \`${id}-\${${expression}}\`, run: async () => 1 });`;

test('a bundle includes its packages, and can be imported without an installation', async () => {
  const files = {
    'package.json': packageJson('app', { type: 'module', engines: { node: '>=20.19' } }),
    'tasks/esm.ts': taskNamed('esm', 'value', "import { value } from 'pure';"),
    'tasks/cjs.ts': taskNamed('cjs', 'old.name', "import old from 'old';"),
    'tasks/json.ts': taskNamed('json', 'data.n', "import data from '../data.json' with { type: 'json' };"),
    'tasks/shared.ts': taskNamed('workspace', 'label', "import { label } from '@app/shared';"),
    'tasks/own.mjs': taskNamed('own', '1', "const __dirname = 'mine'; export const where = __dirname;"),
    'data.json': '{"n":7}',
    CODEOWNERS: '/tasks/own.mjs @own',
    'node_modules/pure/package.json': packageJson('pure', { type: 'module', exports: './index.js' }),
    'node_modules/pure/index.js': "export { value } from './value.js';",
    'node_modules/pure/value.js': "import { join } from 'node:path'; export const value = join('a', 'b');",
    'node_modules/old/package.json': packageJson('old', { main: 'index.js' }),
    'node_modules/old/index.js':
      "const path = require('path'); try { require('not-installed'); } catch {} exports.name = path.basename('/a/b').length > 0 && typeof __dirname;",
    'shared/package.json': packageJson('@app/shared', {
      type: 'module',
      exports: './index.ts',
      scripts: { postinstall: 'tsc' },
    }),
    'shared/index.ts': "export const label: string = 'shared';",
  };
  const here = async (): Promise<TestProject> => {
    const testProject = await project(files);
    await mkdir(join(testProject.dir, 'node_modules/@app'));
    await symlink('../../shared', join(testProject.dir, 'node_modules/@app/shared'));
    return testProject;
  };
  const testProject = await here();
  const ready = await prepared(testProject);
  expect(bundleSchema.safeParse(ready.bundle).error).toBeUndefined();
  expect(ready.bundle).toMatchObject({ nodeMajor: 20, layers: [], sdk: 'millrace-sdk.mjs' });
  expect(ready.tasks).toHaveLength(5);
  expect(ready.tasks.flatMap(({ owner }) => owner ?? [])).toEqual(['@own']);
  expect([...ready.bytesByPackage.keys()]).toEqual(expect.arrayContaining(['pure@1.0.0', 'old@1.0.0', '']));
  const { ids, problems } = await imported(ready);
  expect(problems).toEqual([]);
  expect(ids.toSorted()).toEqual(['cjs-string', 'esm-a/b', 'json-7', 'own-1', 'workspace-shared']);
  // The same sources produce the same files in any folder, at any time.
  expect((await prepared(await here())).bundle.files).toEqual(ready.bundle.files);
  await testProject.write('data.json', '{"n":8}');
  const changed = (await prepared(testProject)).bundle.files;
  const before = new Set(ready.bundle.files.map(({ digest }) => digest));
  expect(changed.filter(({ digest }) => !before.has(digest)).length).toBeLessThanOrEqual(2);
});

test('a version has the labels of its tasks, and its stack traces contain project files', async () => {
  const testProject = await project({
    'tasks/a.ts':
      "import { task } from '@millrace/sdk';\nexport const a = task({ id: 'a', requires: ['gpu'], run: async () => 1 });",
  });
  const ready = await prepared(testProject);
  const map = ready.bundle.files.find(({ path }) => path === 'tasks/a.ts.mjs.map');
  const { sources } = JSON.parse((await contentOf(ready, map?.blob ?? '')).toString()) as {
    sources: string[];
  };
  expect(sources).toEqual(['a.ts']);
  expect(ready.bundle.requires).toEqual(['gpu']);
});

let installed: Promise<TestProject> | undefined;
afterAll(async () => (await installed)?.remove());

/** A package with native code for two platforms, like sharp, packed by npm without a registry. */
async function nativeProject(config?: string): Promise<TestProject> {
  // npm packs and installs it once; each test has a copy.
  const { dir: original } = await (installed ??= installNative());
  const testProject = await project({});
  await run('cp', ['-a', `${original}/.`, testProject.dir]);
  if (config !== undefined) await testProject.write('app/millrace.config.ts', config);
  return {
    ...testProject,
    dir: join(testProject.dir, 'app'),
    write: (file, content) => testProject.write(`app/${file}`, content),
  };
}

async function installNative(): Promise<TestProject> {
  const testProject = await createProject({
    'native/index.js':
      "exports.loaded = require('@native/' + process.platform + '-' + process.arch).name + require('helper');",
    'helper/package.json': packageJson('helper'),
    'helper/index.js': "module.exports = require('fs').readFileSync(__dirname + '/data.txt', 'utf8').trim();",
    'helper/data.txt': 'helps\n',
    'linux/package.json': packageJson('@native/linux-x64', { os: ['linux'], cpu: ['x64'] }),
    'linux/index.js': "exports.name = 'linux';",
    'linux/lib.node': 'not really',
    'darwin/package.json': packageJson('@native/darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }),
    'darwin/index.js': "exports.name = 'darwin';",
    'reads/package.json': packageJson('reads', { main: 'index.js' }),
    'reads/index.js': "module.exports = require('fs').readFileSync(__dirname + '/own.txt', 'utf8').trim();",
    'reads/own.txt': 'own file\n',
    'reads/deep.js': "Object.assign(exports, { deep: 'deep' });",
    'app/tasks/a.ts': taskNamed(
      'a',
      "native.loaded + '-' + reads + '-' + deep",
      "import native from 'native';\nimport reads from 'reads';\nimport { deep } from 'reads/deep';",
    ),
    'app/millrace.config.ts': "export default { build: { external: ['reads'] } };",
  });
  const tarball = (name: string): string => `file:${join(testProject.dir, `${name}-1.0.0.tgz`)}`;
  const native = {
    dependencies: { helper: tarball('helper') },
    optionalDependencies: {
      '@native/linux-x64': tarball('native-linux-x64'),
      '@native/darwin-arm64': tarball('native-darwin-arm64'),
    },
  };
  await testProject.write('native/package.json', packageJson('native', native));
  const dependencies = { native: tarball('native'), reads: tarball('reads') };
  await testProject.write('app/package.json', packageJson('app', { dependencies }));
  const folders = ['helper', 'linux', 'darwin', 'native', 'reads'].map((folder) => `./${folder}`);
  await run('npm', ['pack', '--silent', ...folders], { cwd: testProject.dir });
  const app = join(testProject.dir, 'app');
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund'], { cwd: app });
  await mkdir(join(app, 'node_modules/@millrace'));
  const sdk = await realpath(join(testProject.dir, 'node_modules/@millrace/sdk'));
  await symlink(sdk, join(app, 'node_modules/@millrace/sdk'));
  return testProject;
}

test('packages that cannot be bundled are in one layer, in their locked versions', async () => {
  const testProject = await nativeProject();
  const steps: string[] = [];
  const ready = await prepared(testProject, { onStep: (step) => void steps.push(step) });
  expect(steps.join()).toContain('linux-x64-glibc');
  expect(ready.layers).toMatchObject([
    {
      platform: 'linux-x64-glibc',
      isNew: true,
      packages: ['@native/linux-x64@1.0.0', 'helper@1.0.0', 'native@1.0.0', 'reads@1.0.0'],
    },
  ]);
  expect([...ready.bytesByPackage.keys()]).not.toContain('native@1.0.0');
  const entries = await unpackTar(await contentOf(ready, ready.layers[0]?.blob ?? ''));
  const names = entries.map(({ header }) => header.name);
  expect(names).toEqual(names.toSorted());
  expect(names).toContain('node_modules/helper/data.txt');
  expect(
    new Set(entries.map(({ header: { type, mtime, uid } }) => [type, mtime?.getTime(), uid].join())),
  ).toEqual(new Set(['file,0,0']));
  if (process.platform === 'linux' && process.arch === 'x64') {
    const { ids, problems } = await imported(ready);
    expect(problems).toEqual([]);
    expect(ids).toEqual(['a-linuxhelps-own file-deep']);
  }
  const again = await prepared(testProject);
  expect(again.layers).toMatchObject([{ isNew: false, digest: ready.layers[0]?.digest }]);
  // A changed file in the cache is not uploaded: the layer is rebuilt with the same content.
  await writeFile(ready.layers[0]?.file ?? '', 'changed');
  expect((await prepared(testProject)).layers).toMatchObject([
    { isNew: true, digest: ready.layers[0]?.digest },
  ]);
}, 120_000);

test('the layer of a platform contains the packages of that platform', async () => {
  const testProject = await nativeProject(
    "export default { build: { external: ['reads'], platforms: ['linux-x64-glibc', 'darwin-arm64'] } };",
  );
  const { layers } = await prepared(testProject);
  expect(layers.map(({ platform, packages }) => [platform, packages[0]])).toEqual([
    ['linux-x64-glibc', '@native/linux-x64@1.0.0'],
    ['darwin-arm64', '@native/darwin-arm64@1.0.0'],
  ]);
}, 120_000);

test('rejects a layer without a lockfile and with an unreadable one, with the package and the file in the error', async () => {
  const testProject = await nativeProject();
  await rm(join(testProject.dir, 'package-lock.json'));
  await expect(prepared(testProject)).rejects.toThrow(
    /native cannot be bundled \(it has packages for each platform.*there is no lockfile in .* or above: run `npm install`/,
  );
  for (const [file, content, message] of [
    ['bun.lockb', 'binary', /bun\.lockb is not text: run `bun install --save-text-lockfile --lockfile-only`/],
    ['pnpm-lock.yaml', 'lockfileVersion: 5.4', /pnpm-lock\.yaml has an old format: run `pnpm install`/],
    ['pnpm-lock.yaml', '<<<<<<< HEAD\n', /pnpm-lock\.yaml has merge conflict markers: .* run `pnpm install`/],
    [
      'yarn.lock',
      '# yarn lockfile v1',
      /native is in node_modules, but not in .*yarn\.lock: run `yarn install`/,
    ],
  ] as const) {
    await testProject.write(file, content);
    await expect(prepared(testProject)).rejects.toThrow(message);
    await rm(join(testProject.dir, file));
  }
  await testProject.write('package-lock.json', '{"lockfileVersion":3,"packages":{"":{}}}');
  await expect(prepared(testProject)).rejects.toThrow(/missing from .*package-lock\.json: run `npm install`/);
  await testProject.write('package-lock.json', '<<<<<<< HEAD\n{}');
  await expect(prepared(testProject)).rejects.toMatchObject({
    name: 'ProjectError',
    message: expect.stringMatching(/package-lock\.json is not JSON: `npm install` repairs it/) as string,
  });
  await testProject.write('bun.lock', '{}');
  await expect(prepared(testProject)).rejects.toThrow(/has package-lock\.json and bun\.lock: delete/);
  await testProject.write('package.json', packageJson('app', { packageManager: 'bun@1.4.5' }));
  await expect(prepared(testProject)).rejects.toThrow(/not in .*bun\.lock: run `bun install`/);
}, 120_000);

test.each([
  ['scripts', { scripts: { postinstall: 'node x' } }, {}, 'it has an install script'],
  ['binary', { binary: { module_name: 'x' } }, {}, 'it has a binary'],
  ['gypfile', { gypfile: true }, {}, 'it has native code'],
  ['prebuilds', {}, { 'prebuilds/linux-x64/a.txt': '' }, 'it has native code'],
  ['a file', {}, { 'build/Release/x.node': '' }, 'it has native code (build/Release/x.node)'],
  ['engines', { optionalDependencies: { '@x/linux-arm64': '1' } }, {}, 'it has packages for each platform'],
])('a package with %s is not bundled', async (_, manifest, files, why) => {
  const testProject = await project({
    'tasks/a.ts': taskNamed('a', 'x', "import x from 'x';"),
    'node_modules/x/package.json': packageJson('x', manifest),
    'node_modules/x/index.js': 'module.exports = 1;',
  });
  for (const [file, content] of Object.entries(files))
    await testProject.write(`node_modules/x/${file}`, content);
  await expect(prepared(testProject)).rejects.toThrow(why);
});

test('a package whose install script the project does not allow is bundled', async () => {
  const testProject = await project({
    'package.json': packageJson('app', { allowScripts: { x: false } }),
    'tasks/a.ts': taskNamed('a', 'x', "import x from 'x';"),
    'node_modules/x/package.json': packageJson('x', { scripts: { postinstall: 'node x' } }),
    'node_modules/x/index.js': 'module.exports = 1;',
  });
  expect((await prepared(testProject)).layers).toEqual([]);
});

test('extensions run commands, define constants, and copy files', async () => {
  const testProject = await project({
    'millrace.config.ts': `import { copyFiles, defineConfig, defineConstants, runCommand } from 'millrace';
export default defineConfig({
  build: {
    extensions: [
      runCommand('echo "export const made = 3;" > made.ts'),
      defineConstants({ __RELEASE__: 'r9', 'settings.deep': [1] }),
      copyFiles('templates/**'),
    ],
  },
});`,
    'tasks/a.ts': taskNamed(
      'a',
      "[made, __RELEASE__, settings.deep.length, readFileSync('templates/de/mail.txt', 'utf8')].join()",
      "import { readFileSync } from 'node:fs';\nimport { made } from '../made.ts';\ndeclare const __RELEASE__: string;\ndeclare const settings: any;",
    ),
    'templates/de/mail.txt': 'Hallo',
  });
  const ready = await prepared(testProject);
  const { ids, problems } = await imported(ready);
  expect(problems).toEqual([]);
  expect(ids).toEqual(['a-3,r9,1,Hallo']);
});

test.each([
  [
    "runCommand('echo said; exit 7')",
    /millrace\.config\.ts: the extension runCommand\(echo said; exit 7\) failed: exit code 7\nsaid/,
  ],
  ["copyFiles('nothing/**')", /no file matches "nothing\/\*\*" of copyFiles/],
  ["copyFiles('**/.env*')", /would put \.env\.production into the bundle/],
  ["copyFiles('*.mjs')", /millrace-sdk\.mjs: this path is taken/],
  ["addPackages('missing-package')", /missing-package \(addPackages\) is not installed/],
])('rejects the extension %s by name', async (extension, sentence) => {
  const testProject = await project({
    'millrace.config.ts': `import { addPackages, copyFiles, runCommand } from 'millrace';
export default { build: { extensions: [${extension}] } };`,
    'tasks/a.mjs': taskNamed('a', '1'),
    '.env.production': 'A=1',
    'millrace-sdk.mjs': '',
  });
  await expect(prepared(testProject)).rejects.toThrow(sentence);
});

test.each([
  ['{ external: "sharp" }', /"build\.external"/],
  ['{ platforms: ["linux-x64"] }', /"build\.platforms\.0": not a platform/],
  ['{ extensions: [{ files: [] }] }', /"build\.extensions\.0\.name"/],
  ['{ extensions: [{ name: "a", define: { "a b": 1 } }] }', /must have JavaScript names/],
  ['{ target: 1 }', /"build": .*target/],
])('rejects the setting build: %s by name', async (build, sentence) => {
  const testProject = await project({
    'millrace.config.ts': `export default { build: ${build} };`,
    'tasks/a.ts': '',
  });
  await expect(prepared(testProject)).rejects.toThrow(sentence);
});

test('finds values of secrets in code and source maps, and reports only their names', async () => {
  const testProject = await project({
    'tasks/a.ts': taskNamed(
      'a',
      '1',
      "// the key is sk_live_1234567890abcdef\nexport const url = 'postgres://me:pass\\\"word1@db/x';",
    ),
    '.env': 'STRIPE_KEY=sk_live_1234567890abcdef\nLOG_LEVEL=debug\nNODE_ENV=production\nPORT=3000\n',
  });
  const { dotenvSecrets } = await import('./secret-values.ts');
  const secrets = [
    ...(await dotenvSecrets(testProject.dir)),
    {
      name: 'DATABASE_URL',
      value: 'postgres://me:pass"word1@db/x',
      from: 'a secret variable of the environment',
    },
    { name: 'SHORT', value: 'a', from: 'a secret variable of the environment' },
  ];
  expect(secrets.map(({ name }) => name)).toEqual(['STRIPE_KEY', 'DATABASE_URL', 'SHORT']);
  const refused = await prepared(testProject, { secrets }).then(
    () => '',
    (error: Error) => error.message,
  );
  expect(refused).toContain('tasks/a.ts.mjs: contains the value of STRIPE_KEY (.env)');
  expect(refused).toContain('contains the value of DATABASE_URL (a secret variable of the environment)');
  expect(refused).not.toMatch(/sk_live|word1|SHORT/);
});

test('reports every problem of a project, and prepares nothing', async () => {
  const testProject = await project({
    'tasks/syntax.ts': 'export const = 1;',
    'tasks/missing.ts': "import 'not-there';",
    'tasks/good.ts': taskNamed('good', '1'),
  });
  const refused = (await prepared(testProject).catch((error: Error) => error)) as Error;
  expect(refused.name).toBe('ProjectRefused');
  expect(refused.message).toMatch(
    /^The project has 2 problems, so nothing was uploaded:\n {2}tasks\/missing\.ts:1:8: .*not-there.*\n {2}tasks\/syntax\.ts:1:14: [^\n]*$/,
  );
  await testProject.write('tasks/syntax.ts', "throw new Error('on import');");
  await testProject.write('tasks/missing.ts', taskNamed('good', '1'));
  const thrown = (await prepared(testProject).catch((error: Error) => error)) as Error;
  expect(thrown.message).toMatch(/tasks\/syntax\.ts:1:7: Error: on import/);
  expect(thrown.message).toMatch(/the task id "good-1" is declared 2 times/);
});

test('rejects a project without tasks or for a later Node.js', async () => {
  const testProject = await project({ 'tasks/a.ts': 'export const a = 1;' });
  await expect(prepared(testProject)).rejects.toThrow(/has no task/);
  await testProject.write('package.json', packageJson('app', { engines: { node: '>=99' } }));
  await expect(prepared(testProject)).rejects.toThrow(/needs Node\.js 99 \(engines\.node\)/);
});
