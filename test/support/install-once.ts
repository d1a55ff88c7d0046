import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs `npm ci` in a folder, then `afterwards`, once for each version of its lockfile. Ends the process if npm fails. */
export function installOnce(folder: string, title: string, afterwards: () => void = () => {}): void {
  const stamp = join(folder, 'node_modules/.installed');
  const digest = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (read(stamp) === digest) return;
  process.stdout.write(`Installing ${title} …\n`);
  const startedAt = Date.now();
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit', '--loglevel', 'error'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
  afterwards();
  writeFileSync(stamp, digest);
  process.stdout.write(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.\n`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
