/** Installs the packages that only tests and the documentation need, below `test`, unless its lockfile was installed already. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const stamp = path('node_modules/.installed');
const digest = createHash('sha256').update(readFileSync(path('package-lock.json'))).digest('hex');

if (read(stamp) !== digest) {
  process.stdout.write('Installing the packages that only tests need, once for each version of test/package-lock.json …\n');
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

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
