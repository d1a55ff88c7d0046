import { randomBytes } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameOver } from '@millrace/platform';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import type { ShownCredentials } from './credentials.ts';

/** Whether the file is from an earlier, interrupted first start. Other files are never replaced. */
async function isOurs(file: string): Promise<boolean> {
  try {
    const found = JSON.parse(await readFile(file, 'utf8')) as Partial<ShownCredentials> | null;
    return typeof found?.projectRef === 'string';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Writes the secrets of the first start atomically to a file that only this user can read, and syncs it. */
export async function writeSecretsFile(file: string, credentials: ShownCredentials): Promise<void> {
  const draft = join(dirname(file), `.millrace-secrets-${randomBytes(6).toString('hex')}`);
  try {
    if (!(await isOurs(file))) throw new Error('a file that Millrace did not create already exists');
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameOver(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CommandFailed(
      exitCodes.cannotStart,
      `The secrets of the first start cannot be written to ${file} (${(error as Error).message}), so nothing was created. Choose another file with --secrets-file, or set the secrets with MILLRACE_BOOTSTRAP_… (see: millrace help operations).`,
    );
  }
}
