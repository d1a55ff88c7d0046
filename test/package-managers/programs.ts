import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createdOnce } from '../support/created-once.ts';

/** The folder with package managers and runtimes, and a package with native code. */
export const programs = join(import.meta.dirname, 'programs');

/** Installs them from their lockfile. Several test files of a run may call it. */
export async function installPrograms(): Promise<void> {
  const install = join(import.meta.dirname, '../support/install-folder.ts');
  await createdOnce('package-managers', async () => {
    await promisify(execFile)(process.execPath, [install, 'test/package-managers/programs']);
  });
}

/** The program of this platform, from the packages for each platform in a scope. */
export function platformProgram(scope: string, file: string): string {
  const folder = join(programs, 'node_modules', scope);
  const [name = ''] = readdirSync(folder).toSorted();
  return join(folder, name, file);
}
