import { expect, onTestFinished, test } from 'vitest';
import { buildDeployment } from './build-deployment.ts';
import { createProject } from '../../../runner/src/runner/testing/project.ts';
import { loadProject } from '../project/load.ts';
import { locate } from '../../../diagnostics/src/locate.ts';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

/** A project with zod 3.23, and a package that imports `zod/v4`. */
async function withOldZod(): Promise<string> {
  const { dir, remove } = await createProject({
    'package.json': JSON.stringify({ name: 'app', type: 'module', dependencies: { zod: '^3.23.0' } }),
    'tasks/theirs.ts': "import 'schemas';",
    'tasks/own.ts': "import 'zod/v4';",
    'node_modules/zod/package.json': JSON.stringify({
      name: 'zod',
      version: '3.23.8',
      exports: { '.': './index.js' },
    }),
    'node_modules/zod/index.js': '',
    'node_modules/schemas/package.json': JSON.stringify({
      name: 'schemas',
      version: '4.8.3',
      type: 'module',
      exports: './index.js',
      peerDependencies: { zod: '^3.25.56 || ^4.0.0' },
    }),
    'node_modules/schemas/index.js': "import 'zod/v4';",
  });
  onTestFinished(remove);
  return dir;
}

const needed =
  'zod 3.23.8 is installed, which has no "zod/v4": schemas 4.8.3 needs zod ^3.25.56 || ^4.0.0. Run `npm install zod@"^3.25.56"`';

test('the error for an import that the installed version of a package lacks contains the required version', async () => {
  const dir = await withOldZod();
  const thrown: unknown = await import(
    /* @vite-ignore */ pathToFileURL(join(dir, 'node_modules/schemas/index.js')).href
  ).catch((error: unknown) => error);
  expect(locate(thrown, dir, 'tasks/theirs.ts')).toMatchObject({ file: 'tasks/theirs.ts', message: needed });
});

test('a build error contains the version as well', async () => {
  const dir = await withOldZod();
  const { problems } = await buildDeployment(await loadProject(dir), 20);
  expect(problems).toMatchObject([
    {
      file: 'tasks/own.ts',
      message:
        'Could not resolve "zod/v4": zod 3.23.8 is installed, which has no "zod/v4": run `npm install zod@latest`, or use only its exports',
    },
  ]);
});
