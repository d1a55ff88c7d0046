import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { expect, test } from 'vitest';
import { repository } from '../cli/command.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(repository, folder, 'package.json'), 'utf8')) as Manifest;

test.each([
  'test/node_modules/published-sdk-4.0/node_modules/@trigger.dev/core',
  'test/node_modules/published-sdk-4.4/node_modules/@trigger.dev/core',
  'test/node_modules/published-sdk-4.5/node_modules/@trigger.dev/core',
  'test/node_modules/@trigger.dev/core',
])('the server accepts the OpenTelemetry packages of %s next to it', async (folder) => {
  const { peerDependencies } = await manifestOf('packages/server');
  const { dependencies } = await manifestOf(folder);
  const pinned = Object.keys(peerDependencies).filter((name) => name in dependencies);
  expect(pinned.length).toBeGreaterThan(5);
  for (const name of pinned)
    expect(semver.subset(dependencies[name] ?? '', peerDependencies[name] ?? ''), name).toBe(true);
});
