import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withInstalled } from './install.ts';
import type { LayerPlan } from './layer-plan.ts';

const plan = { platform: 'linux-x64-glibc', key: 'none', dependencies: {}, packages: {} } as LayerPlan;

test("npm uses the project's settings without copying them; folders of killed commands are removed", async () => {
  const project = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  const [old, young] = ['millrace-layer-old', 'millrace-layer-young'].map((name) => join(tmpdir(), name));
  onTestFinished(async () => {
    for (const folder of [project, old ?? '', young ?? ''])
      await rm(folder, { recursive: true, force: true });
  });
  for (const folder of [old ?? '', young ?? '']) await mkdir(folder, { recursive: true });
  await utimes(old ?? '', 0, 0);
  await mkdir(join(project, 'inner'));
  await writeFile(join(project, '.npmrc'), '//registry.example/:_authToken=secret\n');
  const options = { npmrcFolders: [project, join(project, 'inner')], scripts: [] };
  const folder = await withInstalled(plan, options, async (installed) => {
    expect(await readFile(join(installed, '.npmrc'), 'utf8')).toContain('secret');
    expect((await lstat(join(installed, '.npmrc'))).isSymbolicLink()).toBe(true);
    return installed;
  });
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(project, '.npmrc'))).toBe(true);
  expect([old, young].map((path) => existsSync(path ?? ''))).toEqual([false, true]);

  await writeFile(join(project, 'inner', '.npmrc'), 'loglevel=silent\n');
  await withInstalled(plan, options, async (installed) => {
    expect(await readFile(join(installed, '.npmrc'), 'utf8')).toBe('loglevel=silent\n');
  });
});
