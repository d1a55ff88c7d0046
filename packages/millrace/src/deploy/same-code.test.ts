import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { build } from '../bundle/build.ts';
import { indexTasks } from '../bundle/index-tasks.ts';
import { loadProject } from '../project/load.ts';
import type { Problem } from '../../../diagnostics/src/problem.ts';
import { createProject } from '../../../runner/src/runner/testing/project.ts';
import { emptyEnv, imported, packageJson, prepared } from './testing/bundle.ts';

const modules = fileURLToPath(new URL('../../../../test/modules/node_modules', import.meta.url));
/** A TypeScript with an API, which that of this repository does not have. */
const typescript = createRequire(join(modules, '@arethetypeswrong/core/')).resolve('typescript/package.json');

interface App {
  readonly dir: string;
  /** Adds a package from this repository. */
  readonly link: (name: string, target?: string) => Promise<void>;
}

/** A project `app` in a folder that may contain other packages. Links of its `node_modules` are passed as pairs. */
async function app(
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
): Promise<App> {
  const testProject = await createProject(files);
  onTestFinished(testProject.remove);
  const dir = join(testProject.dir, 'app');
  const link = async (name: string, target = join(modules, name)): Promise<void> => {
    await mkdir(dirname(join(dir, 'node_modules', name)), { recursive: true });
    await symlink(target, join(dir, 'node_modules', name));
  };
  await link('@millrace/sdk', await realpath(join(testProject.dir, 'node_modules/@millrace/sdk')));
  for (const [name, target] of Object.entries(links)) await link(name, join(testProject.dir, target));
  return { dir, link };
}

interface Found {
  readonly ids: readonly string[];
  readonly problems: readonly Problem[];
}

/** The tasks of the project as `millrace dev` finds them. */
async function inDev({ dir }: App): Promise<Found> {
  const project = await loadProject(dir);
  const built = await build(project, join(dir, '.millrace', 'build'));
  const { tasks, problems } = await indexTasks(built, {
    projectDir: dir,
    env: emptyEnv,
    defaults: project.defaults,
  });
  return { ids: tasks.map(({ manifest: { id } }) => id).toSorted(), problems };
}

/** The tasks as a runner finds them in the deployed version, in a folder with nothing else. */
async function deployed(project: App): Promise<Found> {
  const { ids, problems } = await imported(await prepared(project));
  return { ids: ids.toSorted(), problems };
}

const task = (id: string, imports = ''): string =>
  `import { task } from '@millrace/sdk';\n${imports}\nexport const one = task({ id: \`${id}\`, run: async () => 1 });\n`;

const read = (path: string): string => `\${readFileSync(${path}, 'utf8')}`;

test('code finds files next to its source, in dev and deployed', async () => {
  const project = await app({
    'app/package.json': packageJson('app', { type: 'module' }),
    'app/millrace.config.ts':
      "import { copyFiles } from 'millrace';\nexport default { build: { extensions: [copyFiles('data/**', 'tasks/**/*.txt')] } };",
    'app/data/a.txt': 'data',
    'app/tasks/deep/b.txt': 'beside',
    'app/tasks/ts.ts': task(
      `ts-${read("new URL('../data/a.txt', import.meta.url)")}-${read('`${dirname}/../data/a.txt`')}-\${placed}`,
      "import { readFileSync } from 'node:fs';\nimport { placed } from '../lib/shared.mts';\nconst { dirname }: { dirname: string } = import.meta;",
    ),
    'app/tasks/also.ts': task('also-${placed}', "import { placed } from '../lib/shared.mts';"),
    'app/lib/shared.mts':
      "import { basename, sep } from 'node:path';\nexport const placed = import.meta.filename.split(sep).slice(-2).join('/') + typeof import.meta.resolve + import.meta.resolve('./x').endsWith('/lib/x') + basename(__dirname);\n",
    'app/tasks/deep/c.cjs': `'use strict';
const { readFileSync } = require('node:fs');
const { join, basename } = require('node:path');
const { task } = require('@millrace/sdk');
exports.one = task({ id: \`cjs-\${readFileSync(join(__dirname, 'b.txt'), 'utf8')}-\${basename(__filename)}-\${typeof require.resolve}-\${(function () { return this === undefined; })()}\`, run: async () => 1 });
`,
    'app/tasks/deep/d.js': task(
      `js-${read('here + "/b.txt"')}`,
      "import { readFileSync } from 'node:fs';\nimport { dirname } from 'node:path';\nimport { fileURLToPath } from 'node:url';\nconst __filename = fileURLToPath(import.meta.url);\nconst __dirname = dirname(__filename);\nconst here = __dirname;",
    ),
    'app/tasks/deep/e.tsx': task(
      `tsx-${read('`${__dirname}/b.txt`')}-\${element.type}`,
      "import { readFileSync } from 'node:fs';\nconst React = { createElement: (type: string) => ({ type }) };\nconst element = <p />;",
    ),
  });
  const ids = [
    'also-lib/shared.mtsfunctiontruelib',
    'cjs-beside-c.cjs-function-true',
    'js-beside',
    'ts-data-data-lib/shared.mtsfunctiontruelib',
    'tsx-beside-p',
  ];
  expect(await inDev(project)).toEqual({ ids, problems: [] });
  expect(await deployed(project)).toEqual({ ids, problems: [] });
});

test('a workspace package finds the engine generated next to its code', async () => {
  const project = await app(
    {
      'app/package.json': packageJson('app'),
      'app/tasks/a.ts': task(
        'a-${client.engine}-${client.schema}-${only}',
        "import { client, only } from '@app/db';",
      ),
      'packages/db/package.json': packageJson('@app/db', { exports: './src/index.ts' }),
      'packages/db/src/index.ts':
        "import { client } from '../generated/index.js';\nimport only from 'only-here';\nexport { client, only };\nexport type Client = typeof client;\n",
      // As Prisma 6 generates it.
      'packages/db/generated/index.js': `const fs = require('fs');
const path = require('path');
const config = { dirname: __dirname };
if (!fs.existsSync(path.join(__dirname, 'schema.prisma'))) throw new Error('no schema in ' + __dirname);
exports.client = {
  engine: fs.readFileSync(path.join(config.dirname, 'libquery_engine-debian-openssl-3.0.x.so.node'), 'utf8'),
  schema: fs.readFileSync(path.join(config.dirname, 'schema.prisma'), 'utf8'),
};
`,
      'packages/db/generated/libquery_engine-debian-openssl-3.0.x.so.node': 'engine',
      'packages/db/generated/schema.prisma': 'schema',
      'packages/db/node_modules/only-here/package.json': packageJson('only-here', { main: 'index' }),
      'packages/db/node_modules/only-here/index.js': "module.exports = 'only';",
    },
    { '@app/db': 'packages/db' },
  );
  const found = { ids: ['a-engine-schema-only'], problems: [] };
  expect(await inDev(project)).toEqual(found);
  expect(await deployed(project)).toEqual(found);
});

test('an error in a file that uses its path has the source line', async () => {
  const project = await app({
    'app/package.json': packageJson('app'),
    'app/tasks/a.ts':
      "\n\ninterface A {}\n\nexport const a = __dirname as A;\n  import x from './missing.ts';\nconsole.log(x);\n",
    'app/tasks/b.ts': '\nexport const b = __dirname;\nconst = 1;\n',
    'app/tasks/c.ts':
      "\n\ntype A = string;\nexport const c: A = import.meta.url;\n  throw new Error('no');\n",
  });
  const { problems } = await inDev(project);
  expect(problems.map(({ file, line, column }) => [file, line, column])).toEqual(
    expect.arrayContaining([
      ['tasks/a.ts', 6, 17],
      ['tasks/b.ts', 3, 7],
      ['tasks/c.ts', 5, 9],
    ]),
  );
});

test('a dynamically imported module executes at its import, and its tasks are not served', async () => {
  const late = "if (!process.env.ONLY_IN_RUNS) throw new Error('executed by the search');\n";
  const project = await app({
    'app/package.json': packageJson('app'),
    'app/tasks/a.ts': task(
      'a',
      `export const load = async (name: string) => [
  await import('../lib/late.ts'),
  await import(\`../workers/\${name}.ts\`),
  await import('lazy'),
  await import('../other/tasks.ts'),
  await import('./b.ts'),
];`,
    ),
    'app/tasks/b.ts': task('b'),
    'app/lib/late.ts': late,
    'app/workers/worker.ts': `${late}process.exit(3);\n`,
    'app/other/tasks.ts': task('outside'),
    'app/node_modules/lazy/package.json': packageJson('lazy', { main: 'index.js' }),
    'app/node_modules/lazy/index.js': late,
  });
  expect(await inDev(project)).toEqual({ ids: ['a', 'b'], problems: [] });
  expect(await deployed(project)).toEqual({ ids: ['a', 'b'], problems: [] });
});

test('imports packages without an exports map like a bundler', async () => {
  const project = await app({
    'app/package.json': packageJson('app', { type: 'module' }),
    'app/tasks/a.ts': task(
      'a-${merge({ n: 1 }, { m: 2 }).m}-${chunk([1, 2], 1).length}-${(await import("lodash/last")).default([1, 2])}-${plain}-${esm}-${data.n}',
      `import merge from 'lodash/merge';
import { chunk } from 'lodash';
import { plain } from 'old/lib';
import { esm } from 'modern/lib/x';
import data from 'old/data.json';`,
    ),
    'app/tasks/b.cjs':
      "const merge = require('lodash/merge');\nconst { task } = require('@millrace/sdk');\nexports.one = task({ id: 'b-' + typeof merge, run: async () => 1 });",
    'app/node_modules/old/package.json': packageJson('old', { main: 'lib' }),
    'app/node_modules/old/lib/index.js': "Object.assign(exports, { plain: 'plain' });",
    'app/node_modules/old/data.json': '{"n":7}',
    'app/node_modules/modern/package.json': packageJson('modern', { type: 'module' }),
    'app/node_modules/modern/lib/x.js': "export const esm = 'esm';",
  });
  for (const name of ['lodash', 'next', 'react']) await project.link(name);
  const found = { ids: ['a-2-2-2-plain-esm-7', 'b-function'], problems: [] };
  expect(await inDev(project)).toEqual(found);
  expect(await deployed(project)).toEqual(found);
  // When it is deployed, it is in the layer: see prepare.test.ts.
  const next = task('next-${typeof headers}', "import { headers } from 'next/headers';");
  await writeFile(join(project.dir, 'tasks/next.ts'), next);
  expect((await inDev(project)).ids).toContain('next-function');
}, 120_000);

const decorated = {
  'app/package.json': packageJson('app'),
  'app/tsconfig.base.json':
    '{"compilerOptions":{"experimentalDecorators":true,"emitDecoratorMetadata":true}}',
  'app/tsconfig.json': '{"extends":"./tsconfig.base.json","compilerOptions":{"target":"es2022"}}',
  'app/lib/engine.ts':
    'export interface Options { n: number }\nexport class Engine { readonly power = 1; }\n',
  'app/lib/car.ts': `import 'reflect-metadata';
import { Engine, type Options } from './engine.ts';
const injectable = () => (_: object): void => undefined;
@injectable()
export class Car {
  constructor(readonly engine: Engine, readonly name: string, readonly options: Options) {}
}
export const place = __dirname.endsWith('lib');
`,
  'app/tasks/a.ts': task(
    "a-${Reflect.getMetadata('design:paramtypes', Car).map(({ name }) => name).join('-')}-${place}",
    "import { Car, place } from '../lib/car.ts';",
  ),
  'app/tasks/b.ts': task('b'),
};

test('emits decorator metadata if tsconfig.json sets emitDecoratorMetadata', async () => {
  const project = await app(decorated);
  await project.link('reflect-metadata');
  const required = {
    file: 'lib/car.ts',
    line: 1,
    column: 1,
    message: expect.stringMatching(
      /^emitDecoratorMetadata of tsconfig\.json requires a compiler.*@swc\/core/,
    ) as string,
  };
  expect(await inDev(project)).toEqual({ ids: ['b'], problems: [required] });
  await expect(deployed(project)).rejects.toThrow('npm install --save-dev @swc/core');
  await project.link('typescript', dirname(typescript));
  const found = { ids: ['a-Engine-String-Object-true', 'b'], problems: [] };
  expect(await inDev(project)).toEqual(found);
  expect(await deployed(project)).toEqual(found);
  const typeless = decorated['app/lib/car.ts'].replace('type Options', 'Options');
  await writeFile(join(project.dir, 'lib/car.ts'), typeless);
  const unclear =
    'No matching export in "lib/engine.ts" for import "Options": import a type with `import type`';
  expect((await inDev(project)).problems).toMatchObject([{ file: 'lib/car.ts', line: 2, message: unclear }]);
}, 120_000);
