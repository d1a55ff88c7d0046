import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository, startDev } from '../cli/command.ts';
import { useAll, type Used } from '../popular/use-all.ts';
import { isLong } from '../support/long.ts';
import { startFetchingRunner, startInstallation, type Installation } from './installation.ts';
import { nativeProject } from './native-project.ts';

const popular = join(repository, 'test/popular/project');
/** Large packages, for a long run: a style sheet, and WebAssembly. */
const large: Readonly<Record<string, Used>> = {
  'parsers/jsdom': { output: ['Hello', 'bolder'] },
  'ai/tiktoken': { output: [9906, 1917] },
};
/** Packages that find files next to themselves, each in its own way; `npm run popular` uses many more. */
const results: Readonly<Record<string, Used>> = {
  'logging/pino': { output: '{"level":30,"msg":"written"}' },
  'logging/pino-pretty': { output: 'INFO: pretty' },
  'documents/pdfkit': { output: ['%PDF-', true] },
  'images/sharp': { output: [4, 2, 'png'] },
  ...(isLong && large),
};
const uses = Object.keys(results);
const nameOf = (use: string): string => use.slice(use.indexOf('/') + 1);

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

test('packages that find files next to themselves work in dev and deployed, without a setting', async () => {
  const { keys, url } = installation;
  const { dependencies } = JSON.parse(await readFile(join(popular, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const files = { 'tasks/use.mjs': await readFile(join(popular, 'tasks/use.mjs'), 'utf8') };
  for (const use of uses)
    Object.assign(files, {
      [`chosen/${use}.mjs`]: await readFile(join(popular, 'uses', `${use}.mjs`), 'utf8'),
    });
  const packages = Object.fromEntries(uses.map(nameOf).map((name) => [name, dependencies[name] ?? '']));
  const project = await nativeProject(installation, keys.prod, packages, files);

  const dev = await startDev(project.dir);
  const target = { url: dev.ready.url, key: dev.ready.environments.dev.secretKey };
  const inDev = await useAll(target, uses, () => {}).finally(async () => {
    dev.kill('SIGTERM');
    await dev.exitCode;
  });
  expect(Object.fromEntries(inDev)).toEqual(results);

  await startFetchingRunner(installation, keys.prod);
  const deployed = await project.run('deploy');
  expect(deployed, deployed.stderr).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
  expect(deployed.stderr).toContain(
    `Installed without bundling: ${uses.map(nameOf).toSorted().join(', ')}. --dry-run shows the reasons.`,
  );
  const used = await useAll({ url, key: keys.prod }, uses, () => {});
  expect(Object.fromEntries(used)).toEqual(results);
}, 600_000);
