import { rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@millrace/platform';

/**
 * Lets the task files of a project import `@millrace/sdk` before it is installed there: a link in `.millrace` points to this command's copy.
 * Builds are in `.millrace`, so they find the link before the project's own packages. The link is removed once the project has its own copy, or
 * unless `mayBeLent`. Returns whether the SDK is lent.
 */
export async function lendSdk(projectDir: string, mayBeLent: boolean): Promise<boolean> {
  const link = join(projectDir, '.millrace', 'node_modules', '@millrace', 'sdk');
  // Removes the link, not its target. The link may belong to a command that has ended.
  await rm(link, { force: true, recursive: true });
  if (!mayBeLent || isInstalled(projectDir)) return false;
  await makeFolder(dirname(link));
  // A junction requires no special privilege on Windows; other systems ignore the type.
  await symlink(ownSdk(), link, 'junction');
  return true;
}

function isInstalled(projectDir: string): boolean {
  try {
    createRequire(join(projectDir, 'millrace.js')).resolve('@millrace/sdk');
    return true;
  } catch {
    return false;
  }
}

/** The folder of the package, above that of its main module. */
const ownSdk = (): string => dirname(dirname(fileURLToPath(import.meta.resolve('@millrace/sdk'))));
