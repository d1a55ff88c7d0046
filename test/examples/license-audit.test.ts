import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { installedPackages } from '../../examples/license-audit/audit/package.ts';
import { repository } from '../cli/command.ts';

const example = join(repository, 'examples/license-audit');

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-audit-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function audit(data: string): Promise<{ code: number; output: string }> {
  const start = join(example, 'start.ts');
  const child = spawn(process.execPath, [start, '--once', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  return { code, output };
}

/** The numbers of a summary: packages, passed, failed, and the count of each error group by id. */
function figures(output: string) {
  const [, ...counts] = /^(\d+) packages audited in .* s: (\d+) passed, (\d+) failed\.$/m.exec(output) ?? [];
  const [packages, passed, failed] = counts.map(Number);
  const groups = [...output.matchAll(/^ +(\d+) {2}(error_\w+)/gm)].map(([, count, id]) => [
    id,
    Number(count),
  ]);
  return { packages, passed, failed, groups: Object.fromEntries(groups) as Record<string, number> };
}

test('the license audit ends with its summary, and a second one adds to the same error groups', async () => {
  const data = await temporaryFolder();
  const { code, output } = await audit(data);
  expect(code).toBe(0);
  const installed = await installedPackages(repository);
  const first = figures(output);
  expect(first.packages).toBe(installed.length);
  expect(Number(first.passed) + Number(first.failed)).toBe(first.packages);
  expect(Object.values(first.groups).reduce((sum, count) => sum + count)).toBe(first.failed);
  expect(output).toMatch(/^ +\d+ {2}MIT$/m);
  expect(output).toMatch(/error_\w+ +AbortTaskRunError: The package names a license but ships no text of it/);

  const [, failed = ''] = /^Failed, and installed for production: (.+)\.$/m.exec(output) ?? [];
  const production = installed.filter(({ isProduction }) => isProduction).map(({ name }) => name);
  expect(failed.split(', ')).toContain('spdx-exceptions');
  expect(production).toEqual(expect.arrayContaining(failed.split(', ')));

  const [, report = ''] = /^Report: (.+)$/m.exec(output) ?? [];
  const lines = (await readFile(join(example, report), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(Number(first.passed));
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual({
    name: 'spdx-expression-parse',
    version: expect.any(String) as string,
    licenses: ['MIT'],
    texts: ['LICENSE'],
  });

  const second = await audit(data);
  expect(second.code).toBe(0);
  const doubled = Object.entries(first.groups).map(([id, count]) => [id, 2 * count]);
  expect(figures(second.output)).toEqual({ ...first, groups: Object.fromEntries(doubled) });
}, 180_000);

test('audits the installed packages of the lock file, with their purpose', async () => {
  const project = await temporaryFolder();
  const packages = {
    '': {},
    'apps/shop': {},
    'node_modules/shop': { link: true },
    'node_modules/@types/pg': {},
    'node_modules/pg': {},
    'node_modules/pg/node_modules/debug': {},
    'node_modules/vitest': { dev: true },
    'node_modules/for-both': { devOptional: true },
    'node_modules/for-another-platform': { optional: true },
    'apps/shop/node_modules/debug': { dev: true },
  };
  for (const path of Object.keys(packages)) {
    if (path.includes('another-platform')) continue;
    await mkdir(join(project, path), { recursive: true });
    await writeFile(join(project, path, 'package.json'), '{}');
  }
  await writeFile(join(project, 'package-lock.json'), JSON.stringify({ packages }));
  const found = (name: string, path: string, isProduction: boolean) => ({
    name,
    folder: join(project, path),
    isProduction,
  });
  expect(await installedPackages(project)).toEqual([
    found('@types/pg', 'node_modules/@types/pg', true),
    found('pg', 'node_modules/pg', true),
    found('debug', 'node_modules/pg/node_modules/debug', true),
    found('vitest', 'node_modules/vitest', false),
    found('for-both', 'node_modules/for-both', true),
    found('debug', 'apps/shop/node_modules/debug', false),
  ]);
});
