/**
 * Installs the packages that only tests and the documentation need, below `test`, unless its lockfile was installed already. Makes
 * `test/modules`, where projects of tests find these packages and those of the repository.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = (below: string): string => fileURLToPath(new URL(below, import.meta.url));
const stamp = path('node_modules/.installed');
const digest = createHash('sha256')
  .update(readFileSync(path('package-lock.json')))
  .digest('hex');

if (read(stamp) !== digest) {
  process.stdout.write(
    'Installing the packages that only tests need, once for each version of test/package-lock.json …\n',
  );
  const startedAt = Date.now();
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit', '--loglevel', 'error'], {
    cwd: path('.'),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
  // Examples and documentation have no packages of their own, so that a clone stays light.
  for (const folder of ['../examples', '../docs']) link(path(`${folder}/node_modules`));
  writeFileSync(stamp, digest);
  process.stdout.write(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.\n`);
}

function link(place: string): void {
  rmSync(place, { recursive: true, force: true });
  symlinkSync('../test/node_modules', place, 'junction');
}

/** Links the packages of both installations; of two versions, that of the repository. */
function linkAll(): void {
  const all = path('modules/node_modules');
  rmSync(all, { recursive: true, force: true });
  const installed = [path('node_modules'), path('../node_modules')].flatMap((folder) =>
    packagesIn(folder).map((name) => [name, join(folder, name)] as const),
  );
  for (const [name, from] of new Map(installed)) {
    const to = join(all, name);
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(relative(dirname(to), from), to, 'junction');
  }
}

/** Names such as `zod`, `@types/pg` and `.bin/jest`. */
const packagesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) =>
    name.startsWith('@') || name === '.bin'
      ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`)
      : name.startsWith('.')
        ? []
        : [name],
  );

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

linkAll();
