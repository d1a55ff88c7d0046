import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownWays } from '@millrace/platform';

/**
 * A folder that only this user may read and write, for what commands have to trust on a system that does not say whose a file is. Undefined
 * where it does.
 */
export const ownPrivateFolder: string | undefined =
  ownWays === 'windows'
    ? join(process.env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'millrace', 'dev')
    : undefined;

/** The file in it that belongs to a folder. Drives and names have no case there, and terminals write them in either. */
export async function privateFileOf(privateFolder: string, folder: string): Promise<string> {
  const path = (await realpath(folder).catch(() => folder)).toLowerCase();
  return join(privateFolder, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`);
}
