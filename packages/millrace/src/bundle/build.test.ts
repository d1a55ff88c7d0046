import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadProject } from '../project/load.ts';
import { createProject } from '../../../runner/src/runner/testing/project.ts';
import type { TestProject } from '../../../runner/src/runner/testing/project.ts';
import { build } from './build.ts';
import type { Build } from './build.ts';
import { pruneBuilds } from './prune.ts';

async function project(files: Record<string, string>): Promise<TestProject> {
  const testProject = await createProject(files);
  onTestFinished(testProject.remove);
  return testProject;
}

const buildOf = async ({ dir }: TestProject): Promise<Build> =>
  build(await loadProject(dir), join(dir, '.millrace', 'build'));

test('equal sources in any folder have the same hash; a changed import or default changes it', async () => {
  const files = { 'tasks/a.ts': "export { b } from '../lib/b.ts';", 'lib/b.ts': 'export const b = 1;' };
  const here = await project(files);
  const first = await buildOf(here);
  expect((await buildOf(here)).hash).toBe(first.hash);
  expect((await buildOf(await project(files))).hash).toBe(first.hash);
  await here.write('lib/b.ts', 'export const b = 2;');
  const second = await buildOf(here);
  expect(second.hash).not.toBe(first.hash);
  await here.write('millrace.config.ts', 'export default { maxDuration: 60 };');
  expect((await buildOf(here)).hash).not.toBe(second.hash);
});

test('an import of two task files is one module', async () => {
  const { entries, dir } = await buildOf(
    await project({
      'lib/pool.ts': 'export const pool = { made: performance.now() };',
      'tasks/a.ts': "export { pool } from '../lib/pool.ts';",
      'tasks/b.ts': "export { pool } from '../lib/pool.ts';",
    }),
  );
  const modules = await Promise.all(
    entries.map(async ({ module }) => (await import(join(dir, module))) as { pool: object }),
  );
  expect(modules).toHaveLength(2);
  expect(modules[0]?.pool).toBe(modules[1]?.pool);
});

test('removes old builds except the newest ten and those in use', async () => {
  const here = await project({ 'tasks/a.ts': '' });
  const hashes: string[] = [];
  for (let version = 0; version < 13; version += 1) {
    await here.write('tasks/a.ts', `export const version = ${version};`);
    const { hash, dir } = await buildOf(here);
    const at = new Date(Date.now() - 3_600_000 + version * 1_000);
    await utimes(dir, at, at);
    hashes.push(hash);
  }
  const removed = await pruneBuilds(join(here.dir, '.millrace', 'build'), new Set([hashes[1] ?? '']));
  expect(new Set(removed)).toEqual(new Set([hashes[0], hashes[2]]));
});
