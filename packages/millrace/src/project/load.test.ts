import { onTestFinished, expect, test } from 'vitest';
import { createProject } from '../../../runner/src/runner/testing/project.ts';
import { loadProject } from './load.ts';

async function projectOf(files: Record<string, string>): Promise<string> {
  const project = await createProject(files);
  onTestFinished(project.remove);
  return project.dir;
}

test('finds task files in their folders, but not tests, declarations, packages and hidden folders', async () => {
  const dir = await projectOf({
    'tasks/a.ts': '',
    'tasks/deep/b.mjs': '',
    'tasks/c.tsx': '',
    'tasks/a.test.ts': '',
    'tasks/types.d.ts': '',
    'tasks/data.json': '',
    'tasks/.hidden/x.ts': '',
    'tasks/node_modules/p/index.js': '',
    'other/d.ts': '',
  });
  const project = await loadProject(dir);
  expect(project).toMatchObject({ ref: null, configFile: null, defaults: {} });
  expect(project.taskFiles).toEqual(['tasks/a.ts', 'tasks/c.tsx', 'tasks/deep/b.mjs']);
});

test('reads the configuration with its imports', async () => {
  const dir = await projectOf({
    'millrace.config.ts':
      "import { defineConfig } from 'millrace';\nimport { dirs } from './dirs.ts';\nexport default defineConfig({ dirs, project: 'proj_a', maxDuration: 60 });",
    'dirs.ts': "export const dirs: string[] = ['jobs'];",
    'jobs/a.ts': '',
  });
  expect(await loadProject(dir)).toMatchObject({
    ref: 'proj_a',
    taskFiles: ['jobs/a.ts'],
    defaults: { maxDuration: 60 },
  });
});

test.each([
  ['throws', "const a: number = 1;\n\nthrow new Error('no');", /^millrace\.config\.ts:3:\d+: Error: no$/],
  ['does not compile', 'export default {\n  dirs: [,\n', /^millrace\.config\.ts:3:\d+: /],
  ['has no default export', 'export const a = 1;', /must export its configuration as default/],
  [
    'has a setting that does not exist',
    'export default { dir: [] };',
    /"dir" is not a setting; valid settings are dirs, /,
  ],
  [
    'has a wrong limit',
    'export default { maxDuration: 1 };',
    /"maxDuration" must be a whole number of seconds/,
  ],
  ['has a wrong policy', 'export default { retry: { maxAttempts: 0 } };', /"retry\.maxAttempts"/],
])('a configuration that %s is reported with its position', async (_, config, message) => {
  const dir = await projectOf({ 'millrace.config.ts': config, 'tasks/a.ts': '' });
  await expect(loadProject(dir)).rejects.toThrow(message);
});

test('a missing folder is reported with a fix', async () => {
  const dir = await projectOf({});
  await expect(loadProject(dir)).rejects.toThrow(/no folder tasks in .*: create it, or list/);
  await expect(loadProject(`${dir}/nowhere`)).rejects.toThrow(/this folder does not exist/);
});
